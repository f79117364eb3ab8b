// SPDX-License-Identifier: Apache-2.0

/// Jobs that may use some of a pool's nodes, nodes that are out, and the order in which a site has
/// its jobs already: small queues under slurm_backfill, worked out by hand.

#include <doctest/doctest.h>

#include <array>
#include <schedmate/eta.hpp>

#include "tests/support/need.hpp"
#include "tests/support/small.hpp"

namespace schedmate::eta {
namespace {

using testing::need;

constexpr SimTime the_instant = at(1000);
using Nodes = std::vector<std::uint32_t>;

std::shared_ptr<const NodeSet> only(const Nodes& nodes) {
  if (nodes.empty()) return nullptr;
  NodeSet made;
  for (const std::uint32_t node : nodes) made.insert(node);
  return std::make_shared<const NodeSet>(made);
}

/// Waits; its run takes `lasts_s`, and everybody knows it.
SnapshotJob on_nodes(const char* id, int gpus, const Nodes& nodes, double lasts_s = 500) {
  SnapshotJob made;
  made.id = id;
  made.gpus = gpus;
  made.submit = the_instant - Seconds(10);
  made.planned = FractionalSeconds(lasts_s);
  made.belief = {.curve = nullptr, .known_s = lasts_s};
  made.nodes = only(nodes);
  return made;
}

/// Runs on the first GPUs of a node until 400 s from now.
SnapshotJob busy(const char* id, int gpus, std::uint32_t node) {
  SnapshotJob made = on_nodes(id, gpus, {});
  made.started = the_instant - Seconds(100);
  made.where = {{node, (std::uint64_t{1} << static_cast<unsigned>(gpus)) - 1}};
  return made;
}

QueueSnapshot nodes_of_8(int nodes, std::vector<SnapshotJob> jobs) {
  QueueSnapshot snapshot;
  snapshot.now = the_instant;
  snapshot.pools = testing::small_cluster({nodes}).partitions;
  snapshot.jobs = std::move(jobs);
  return snapshot;
}

using Options = std::map<std::string, std::string, std::less<>>;
const Options by_rank{{"weight_fairshare", "0"}, {"weight_job_size", "0"}, {"weight_age", "0"}};

QueueForecast forecast_of(const QueueSnapshot& snapshot, Options options = by_rank) {
  const Scheduler scheduler = need(make_scheduler("slurm_backfill", {ClusterSpec{snapshot.pools}},
                                                  PolicyOptions(std::move(options))));
  return need(forecast_queue(snapshot, scheduler, {.samples = 100}));
}

std::int64_t wait_s(const QueueForecast& forecast, std::size_t job) {
  return (forecast.jobs[job].start->p50 - the_instant).count();
}

}  // namespace

TEST_CASE("a job waits for its own nodes, and those behind it go on with the others") {
  const auto told =
      forecast_of(nodes_of_8(2, {busy("a", 8, 0), on_nodes("b", 8, {0}), on_nodes("c", 8, {})}));
  CHECK(wait_s(told, 1) == 400);
  CHECK(told.jobs[1].block == QueueBlock::gpus);
  CHECK(wait_s(told, 2) == 0);
}

// c would fill up node 0, but b, which goes first, has closed it: c takes node 1, and d waits for
// c.
TEST_CASE("who cannot be placed closes its nodes to those behind it") {
  const auto told = forecast_of(nodes_of_8(2, {busy("a", 4, 0), on_nodes("b", 8, {0}),
                                               on_nodes("c", 4, {}, 300), on_nodes("d", 8, {1})}));
  CHECK(wait_s(told, 1) == 400);
  CHECK(wait_s(told, 2) == 0);
  CHECK(wait_s(told, 3) == 300);
}

// c needs both nodes, of which b has closed one: it is passed over and closes nothing, though d is
// then in its way.
TEST_CASE("who has too few nodes left closes none") {
  const auto told =
      forecast_of(nodes_of_8(2, {busy("a", 8, 0), on_nodes("b", 8, {0}), on_nodes("c", 16, {}),
                                 on_nodes("d", 8, {1}, 1000)}));
  CHECK(wait_s(told, 1) == 400);
  CHECK(wait_s(told, 2) == 1000);
  CHECK(wait_s(told, 3) == 0);
}

// b has node 0 reserved from 400 on (slots of a minute). c is over by then, d is not.
TEST_CASE("a reservation is on the job's own nodes, and only there in the way") {
  const auto told =
      forecast_of(nodes_of_8(2, {busy("a", 4, 0), on_nodes("b", 8, {0}), on_nodes("c", 2, {0}, 200),
                                 on_nodes("d", 2, {0}, 900), on_nodes("e", 2, {1}, 900)}));
  CHECK(wait_s(told, 1) == 400);
  CHECK(wait_s(told, 2) == 0);
  CHECK(wait_s(told, 3) == 900);
  CHECK(wait_s(told, 4) == 0);
}

TEST_CASE("a gang takes nodes of its own") {
  const auto told =
      forecast_of(nodes_of_8(4, {busy("a", 1, 0), on_nodes("b", 16, {0, 1}),
                                 on_nodes("c", 12, {0, 2, 3}), on_nodes("d", 40, {0, 1, 2, 3})}));
  CHECK(wait_s(told, 1) == 400);
  CHECK(wait_s(told, 2) == 0);
  CHECK(told.jobs[3].block == QueueBlock::too_large);
  CHECK(told.jobs[3].start->p50 == never);
}

TEST_CASE("a node that is out comes back, at the median after as long again or an hour") {
  QueueSnapshot snapshot =
      nodes_of_8(2, {on_nodes("a", 8, {1}), on_nodes("b", 8, {}, 50), on_nodes("c", 16, {})});
  snapshot.changes = {{the_instant, 0, 1, NodeState::drained}};
  const auto out_for = [&](std::int64_t seconds) {
    snapshot.outages = {{0, 1, the_instant - Seconds(seconds)}};
    return forecast_of(snapshot);
  };
  CHECK(wait_s(out_for(100'000), 0) > 60'000);
  CHECK(wait_s(out_for(100'000), 0) < 150'000);
  const auto told = out_for(10);
  CHECK(told.jobs[0].start->p10 < the_instant + Seconds(1200));
  CHECK(wait_s(told, 0) > 2400);
  CHECK(wait_s(told, 0) < 5400);
  CHECK(told.jobs[0].start->p90 > the_instant + Seconds(15'000));
  CHECK(wait_s(told, 1) == 0);  // nobody waits behind a job without nodes
  CHECK(told.jobs[2].start->p50 >= told.jobs[0].end.p50);
  SUBCASE("never, as far as is known, where that is not said") {
    snapshot.outages.clear();
    CHECK(forecast_of(snapshot).jobs[0].start->p90 == never);
  }
}

TEST_CASE("submissions to come have nodes and a rank as well") {
  QueueSnapshot snapshot = nodes_of_8(2, {busy("a", 8, 1), on_nodes("b", 8, {1})});
  snapshot.jobs[1].rank = Rank{20, the_instant, the_instant};
  const auto wait_behind = [&](const Nodes& nodes, double priority) {
    // One a day, 100 s after this time of the day.
    snapshot.past.clear();
    for (int day = 2; day > 0; --day)
      snapshot.past.push_back({.submit = the_instant + Seconds(100 - day * 86'400),
                               .gpus = 8,
                               .ran_s = 5000,
                               .planned = Seconds(5000),
                               .nodes = only(nodes),
                               .rank = Rank{priority, the_instant, the_instant}});
    return wait_s(forecast_of(snapshot), 1);
  };
  CHECK(wait_behind({1}, 10) == 400);
  CHECK(wait_behind({1}, 30) == 5400);
  CHECK(wait_behind({0}, 30) == 400);
  CHECK(wait_behind({}, 30) == 400);
}

TEST_CASE("jobs go in the order that the site has them in") {
  QueueSnapshot snapshot = nodes_of_8(
      1, {busy("a", 8, 0), on_nodes("b", 8, {}), on_nodes("c", 8, {}), on_nodes("d", 8, {})});
  for (const std::size_t job : {1U, 2U, 3U})
    snapshot.jobs[job].rank =
        Rank{job == 2 ? 30.0 : 5e12 * double(job - 1), the_instant, the_instant};
  const auto told = forecast_of(snapshot);
  CHECK(wait_s(told, 3) == 400);
  CHECK(wait_s(told, 2) == 900);
  CHECK(wait_s(told, 1) == 1400);
}

// A day of waiting gives 1000, so that 400 s give 4.6. b has waited long enough to gain no more, c
// gains 1.2 in the next 100 s and no more, d gains all the time.
TEST_CASE("a rank gains by age, up to the site's most") {
  QueueSnapshot snapshot = nodes_of_8(
      1, {busy("a", 8, 0), on_nodes("b", 8, {}), on_nodes("c", 8, {}), on_nodes("d", 8, {})});
  constexpr Seconds day(86'400);
  snapshot.jobs[1].rank = Rank{1002, the_instant, the_instant - 2 * day};
  snapshot.jobs[2].rank = Rank{1000, the_instant, the_instant - day + Seconds(100)};
  snapshot.jobs[3].rank = Rank{999, the_instant, the_instant - Seconds(300)};
  const Options aging{{"weight_fairshare", "0"},
                      {"weight_job_size", "0"},
                      {"weight_age", "1000"},
                      {"max_age_d", "1"},
                      {"calc_period_min", "1"}};
  const auto told = forecast_of(snapshot, aging);
  CHECK(wait_s(told, 3) == 400);
  CHECK(wait_s(told, 1) == 900);
  CHECK(wait_s(told, 2) == 1400);
  const auto as_it_is = forecast_of(snapshot);
  CHECK(wait_s(as_it_is, 1) == 400);
  CHECK(wait_s(as_it_is, 2) == 900);
  CHECK(wait_s(as_it_is, 3) == 1400);
}

// The user of b has used all there is, that of c nothing, and so they stay ranked for some time.
// Then a, whose user is a third one, is forgotten as b's usage is; but user 2 runs d for long, and
// loses.
TEST_CASE("a rank changes as the fair share of its user does") {
  QueueSnapshot snapshot = nodes_of_8(2, {busy("a", 8, 0), on_nodes("d", 8, {1}, 1e6),
                                          on_nodes("b", 8, {0}), on_nodes("c", 8, {0})});
  snapshot.jobs[0].belief.known_s = 40'100;
  snapshot.jobs[0].planned = Seconds(40'100);
  const std::array<std::uint32_t, 4> users{3, 2, 1, 2};
  const std::array<double, 4> ranks{1, 9000, 5000, 5500};
  for (std::size_t i = 0; i < 4; ++i) {
    snapshot.jobs[i].user = users[i];
    snapshot.jobs[i].rank = Rank{ranks[i], the_instant, the_instant, i == 2 ? 1e6 : 0.0};
  }
  const Options shares{{"weight_fairshare", "10000"},
                       {"weight_job_size", "0"},
                       {"weight_age", "0"},
                       {"half_life_d", "7"}};
  const auto told = forecast_of(snapshot, shares);
  CHECK(wait_s(told, 1) == 0);
  CHECK(wait_s(told, 2) == 40'000);
  CHECK(wait_s(told, 3) == 40'500);
  const auto as_it_is = forecast_of(snapshot);
  CHECK(wait_s(as_it_is, 3) == 40'000);
}

}  // namespace schedmate::eta
