// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <schedmate/sim.hpp>

#include "base/random.hpp"
#include "tests/support/small.hpp"

namespace schedmate::policy {
namespace {

using testing::small_cluster;
using testing::small_trace;
using testing::SmallJob;
using Settings = std::map<std::string, std::string, std::less<>>;

struct World {
  Trace trace;
  ClusterSpec cluster;

  [[nodiscard]] SimResult replay(Settings settings, const SimOptions& options = {}) const {
    const Scheduler scheduler =
        make_scheduler("schedmate", {cluster}, PolicyOptions(std::move(settings))).value();
    return simulate(trace, cluster, scheduler, options).value();
  }
  [[nodiscard]] std::vector<std::int64_t> starts(Settings settings) const {
    std::vector<std::int64_t> times;
    for (const JobOutcome& job : replay(std::move(settings)).outcomes)
      times.push_back(seconds_of(job.start));
    return times;
  }
};

using Times = std::vector<std::int64_t>;

TEST_CASE("the order is the expected run time, whatever the size") {
  // j0 holds the node until 100; then 10, 25 and 30 s on half of it each, 50 s.
  const World world{small_trace({{0, 8, 100}, {1, 8, 50}, {2, 4, 30}, {3, 4, 25}, {4, 8, 10}}),
                    small_cluster({1})};
  CHECK(world.starts({{"ageing", "0"}}) == Times{0, 140, 110, 110, 100});
}

TEST_CASE(
    "whatever fits may start past a gang that does not, if it ends before the gang can start") {
  const World world{small_trace({{0, 4, 100}, {1, 8, 5}, {2, 4, 20}}), small_cluster({1})};
  CHECK(world.starts({}) == Times{0, 100, 2});
}

TEST_CASE("ageing lets an early long job go before a late short one") {
  // j1: 50 + a, j2: 40 + 51 a: the same at a = 0.2.
  const World world{small_trace({{0, 8, 100}, {1, 8, 50}, {51, 8, 40}}), small_cluster({1})};
  CHECK(world.starts({{"ageing", "0.1"}}) == Times{0, 140, 100});
  CHECK(world.starts({{"ageing", "0.3"}}) == Times{0, 100, 150});
}

/// Half the node is always taken by those that are let pass the gang, j1.
World crowded() {
  return {small_trace({{0, 4, 20}, {1, 8, 10}, {10, 4, 40}, {20, 4, 15}, {34, 4, 20}, {36, 4, 10}}),
          small_cluster({1})};
}

TEST_CASE("the first in rank has a reservation: only what does not move it starts") {
  // Of 10 s, the gang is first, and the node is free at 20: j2 waits for it.
  CHECK(crowded().starts({{"ageing", "0"}}) == Times{0, 20, 30, 30, 55, 45});
}

TEST_CASE("what cannot start within the horizon holds nobody up") {
  // As above: at 10 the gang could start in 10 s.
  CHECK(crowded().starts({{"ageing", "0"}, {"horizon_s", "10"}}) ==
        crowded().starts({{"ageing", "0"}}));
  CHECK(crowded().starts({{"ageing", "0"}, {"horizon_s", "9"}})[2] == 10);
}

/// The same with a gang that is expected to run longer than all others. j4 would move it beyond 50,
/// j5 would not.
World crowded_by_long() {
  World world = crowded();
  world.trace.jobs[1].duration = Seconds(100);
  return world;
}

TEST_CASE("a gang that is not first in rank waits until the whole node happens to be free") {
  CHECK(crowded_by_long().starts({{"ageing", "0"}}) == Times{0, 60, 10, 20, 35, 50});
}

TEST_CASE("an overdue gang is first, and has a reservation") {
  // Overdue at 1 + 29; the node is free at 50.
  CHECK(crowded_by_long().starts({{"patience", "0"}, {"patience_min_s", "29"}, {"ageing", "0"}}) ==
        Times{0, 50, 10, 20, 150, 36});
  // The same by 0.3 of the 100 s that it expects to run.
  CHECK(crowded_by_long().starts({{"patience", "0.3"}, {"patience_min_s", "0"}, {"ageing", "0"}}) ==
        Times{0, 50, 10, 20, 150, 36});
  // However long it is expected to run.
  CHECK(crowded_by_long().starts({{"patience", "1000"},
                                  {"patience_min_s", "0"},
                                  {"patience_max_s", "29"},
                                  {"ageing", "0"}}) == Times{0, 50, 10, 20, 150, 36});
}

TEST_CASE("from twice its patience on nothing starts before an overdue gang") {
  CHECK(crowded_by_long().starts({{"patience", "0"}, {"patience_min_s", "14"}, {"ageing", "0"}}) ==
        Times{0, 50, 10, 20, 150, 150});
}

TEST_CASE("settings that make no sense are errors that say so") {
  const World world{small_trace({{0, 1, 10}}), small_cluster({1})};
  for (const auto& [key, value] : Settings{{"ageing", "-1"},
                                           {"patience", "-0.5"},
                                           {"patience_min_s", "-1"},
                                           {"patience_max_s", "2591999"},
                                           {"horizon_s", "-1"}}) {
    const auto made =
        make_scheduler("schedmate", {world.cluster}, PolicyOptions(Settings{{key, value}}));
    REQUIRE_FALSE(made.has_value());
    CHECK(made.error().message.find(fmt::format("{}={}", key, value)) != std::string::npos);
  }
}

/// `stretch`: seconds that stand for one.
World random_world(std::uint64_t seed, std::int64_t stretch) {
  Random random(mix(seed));
  const auto nodes = static_cast<int>(random.between(1, 3));
  std::vector<SmallJob> jobs;
  std::int64_t now_s = 0;
  for (int i = 0; i < 60; ++i) {
    now_s += random.below(40);
    jobs.push_back({.submit_s = now_s * stretch,
                    .gpus = static_cast<std::int32_t>(
                        random.below(4) == 0 ? 8 * random.between(1, nodes) : random.between(1, 4)),
                    .duration_s = random.between(1, 300) * stretch});
  }
  return {small_trace(jobs), small_cluster({nodes})};
}

/// What the ageing bound promises, checked at each decision. After a failure a job enters again.
struct AgeingBound {
  AgeingBound(std::int64_t times, Seconds at_least) : patience(times), least(at_least) {}

  std::int64_t patience;
  Seconds least;
  Seconds most{2'592'000};
  std::map<std::size_t, std::vector<std::size_t>> beside{};  // overdue head: who ran then
  std::map<std::size_t, SimTime> started{}, ended{};
  int broken = 0;

  /// By what it expects to run from its entry on: after a failure that is the rest.
  [[nodiscard]] Seconds patience_of(const JobInfo& job) const {
    const FractionalSeconds rest = job.estimate - FractionalSeconds(job.attained);
    const Seconds run(std::llround(std::max(1.0, rest.count())));
    return std::clamp(patience * run, least, most);
  }
  [[nodiscard]] SimTime deadline(const JobInfo& job) const {
    return job.entered + patience_of(job);
  }

  void look(const SimOptions::Moment& moment) {
    std::optional<JobId> head;
    moment.standing.for_each([&](JobId id, const JobStanding& standing) {
      if (standing.phase == JobPhase::running) started.try_emplace(index_of(id), moment.now);
      if (standing.phase == JobPhase::ended) ended.try_emplace(index_of(id), moment.now);
      if (standing.phase != JobPhase::queued) return;
      if (!head || deadline(moment.jobs.at(id)) < deadline(moment.jobs.at(*head))) head = id;
    });
    if (!head) return;
    const JobInfo& first = moment.jobs.at(*head);
    if (deadline(first) + patience_of(first) > moment.now) return;
    const auto [at, fresh] = beside.try_emplace(index_of(*head));
    auto& others = at->second;
    moment.standing.for_each([&, is_fresh = fresh](JobId id, const JobStanding& standing) {
      if (standing.phase != JobPhase::running) return;
      const bool started_now = moment.jobs.at(id).run_since == moment.now;
      if (started_now && deadline(moment.jobs.at(id)) > deadline(first)) ++broken;
      if (is_fresh) others.push_back(index_of(id));
    });
  }
  /// Whether each head started when those had ended that ran beside it, at the latest.
  [[nodiscard]] bool holds() const {
    return broken == 0 && std::ranges::all_of(beside, [&](const auto& each) {
             SimTime latest;
             for (const std::size_t other : each.second) latest = std::max(latest, ended.at(other));
             return started.at(each.first) <= latest;
           });
  }
};

/// Worlds in which jobs wait for longer than their patience.
struct Strain {
  std::int64_t stretch = 1;  ///< of the world, and of what a failure takes
  Settings settings;
  bool fails = false;
};

/// Heads that were overdue twice, and attempts that failed.
struct Overdue {
  std::size_t heads = 0;
  int failures = 0;

  void replay(std::uint64_t seed, const Strain& strain, AgeingBound bound) {
    SimOptions options;
    options.seed = seed;
    options.observer = [&](const SimOptions::Moment& moment) { bound.look(moment); };
    if (strain.fails)
      options.costs.failures = {.gpu_hours = static_cast<double>(strain.stretch),
                                .checkpoint = Seconds(30 * strain.stretch),
                                .detection = Seconds(10 * strain.stretch),
                                .manual_restart = Seconds(60 * strain.stretch),
                                .bad_node_share = 0.3};
    const World world = random_world(seed, strain.stretch);
    for (const JobOutcome& job : world.replay(strain.settings, options).outcomes) {
      REQUIRE(job.status == JobStatus::finished);
      failures += job.failures;
    }
    REQUIRE(bound.holds());
    heads += bound.beside.size();
  }
};

TEST_CASE("who has waited twice its patience is passed by none and starts when those who run end") {
  for (const bool fails : {false, true}) {
    CAPTURE(fails);
    Overdue seen;
    for (std::uint64_t seed = 0; seed < 400; ++seed) {
      CAPTURE(seed);
      const auto patience = static_cast<std::int64_t>(seed % 3);
      const Settings settings{{"patience", std::to_string(patience)}, {"patience_min_s", "60"}};
      seen.replay(seed, {1, settings, fails}, {patience, Seconds(60)});
    }
    CHECK(seen.heads > 500);
    CHECK((seen.failures > 1000) == fails);
  }
}

TEST_CASE("so it is with the patience that is set by default, and jobs of days") {
  for (const bool fails : {false, true}) {
    CAPTURE(fails);
    Overdue seen;
    for (std::uint64_t seed = 0; seed < 400; ++seed) {
      CAPTURE(seed);
      seen.replay(seed, {20000, {}, fails}, {10, Seconds(2'592'000)});
    }
    CHECK(seen.heads > 50);
    CHECK((seen.failures > 1000) == fails);
  }
}

}  // namespace
}  // namespace schedmate::policy
