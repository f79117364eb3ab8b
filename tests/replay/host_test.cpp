// SPDX-License-Identifier: Apache-2.0
/// A replay that starts jobs by a policy of its own, and what may be said to it from outside.
#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <schedmate/scheduler.hpp>
#include <schedmate/sim.hpp>
#include <string>
#include <vector>

#include "replay/cluster.hpp"
#include "tests/support/estimators.hpp"
#include "tests/support/need.hpp"
#include "tests/support/small.hpp"

namespace schedmate::replay {
namespace {

using testing::need;
constexpr Connector::Deadline soon{1000};

/// One GPU, on which j0 runs until 100; what was submitted after it waits for it.
struct HostedReplay {
  Trace trace;
  ClusterSpec spec = testing::small_cluster({1}, 1);
  std::optional<ReplayCluster> cluster;

  HostedReplay(std::string_view policy, const std::vector<std::int64_t>& run_s,
               std::uint32_t user_of_last = 0) {
    std::vector<testing::SmallJob> jobs{{.duration_s = 100}};
    for (const std::int64_t each : run_s)
      jobs.push_back({.submit_s = std::ssize(jobs), .duration_s = each});
    jobs.back().user = user_of_last;
    trace = testing::small_trace(jobs);
    const Scheduler host = need(make_scheduler(policy, {spec}, {}));
    SimOptions options;
    options.estimator = testing::estimator("oracle", trace);
    cluster.emplace(trace, spec, options, &host);
    advance(10);
  }
  void advance(std::int64_t to_s) { cluster->advance(at(to_s)); }
  CallOutcome call(ActionKind kind, const std::string& id, std::int64_t order = 0) {
    const SeenJob seen = need(cluster->job(id, soon)).value();
    ActionCall call{.kind = kind, .job = id, .submitted = seen.submitted};
    call.order = order;
    if (kind == ActionKind::hold || kind == ActionKind::release) call.text = "schedmate:main/1";
    return cluster->call(call, soon).outcome;
  }
  /// In order of their starts; a job that has not started is left out.
  std::string starts() {
    advance(100'000);
    std::vector<std::pair<SimTime, std::string_view>> starts;
    for (std::size_t row = 0; row < trace.jobs.size(); ++row)
      if (const JobOutcome& each = cluster->outcomes()[row]; each.started)
        starts.emplace_back(each.start, trace.jobs[row].id);
    std::ranges::sort(starts);
    std::string text;
    for (const auto& [when, id] : starts) text += std::string(id) + " ";
    return text;
  }
};

TEST_CASE("a host starts jobs by its own policy, and nobody else does") {
  HostedReplay fifo("fifo", {30, 20, 10});
  CHECK(need(fifo.cluster->job("j0", soon))->phase == JobPhase::running);
  CHECK(need(fifo.cluster->job("j0", soon))->nodes == std::vector<NodeGpus>{{"vc0-0", {0}}});
  CHECK(fifo.call(ActionKind::start, "j1") == CallOutcome::refused);
  CHECK(fifo.call(ActionKind::evict, "j0") == CallOutcome::refused);
  CHECK(!need(fifo.cluster->abilities(soon)).lack(ActionKind::start).empty());
  CHECK(need(fifo.cluster->abilities(soon)).lack(ActionKind::set_order).empty());
  CHECK(fifo.starts() == "j0 j1 j2 j3 ");
  CHECK(HostedReplay("sjf", {30, 20, 10}).starts() == "j0 j3 j2 j1 ");
}

TEST_CASE("a higher order goes first, and within one order the host's own") {
  for (const std::string_view policy : {"fifo", "backfill_easy", "slurm_backfill"}) {
    INFO(policy);
    HostedReplay replay(policy, {10, 10, 10, 10, 10});
    CHECK(replay.call(ActionKind::set_order, "j5", 7) == CallOutcome::done);
    CHECK(replay.call(ActionKind::set_order, "j4", 3) == CallOutcome::done);
    CHECK(replay.call(ActionKind::set_order, "j3", 3) == CallOutcome::done);
    CHECK(replay.call(ActionKind::set_order, "j1", -1) == CallOutcome::done);
    CHECK(replay.starts() == "j0 j5 j3 j4 j2 j1 ");
    HostedReplay again(policy, {10, 10, 10});
    CHECK(again.call(ActionKind::set_order, "j2", 9) == CallOutcome::done);
    CHECK(again.call(ActionKind::set_order, "j1", 9) == CallOutcome::done);
    again.advance(50);
    CHECK(again.call(ActionKind::set_order, "j2", 0) == CallOutcome::done);
    CHECK(again.call(ActionKind::set_order, "j1", 0) == CallOutcome::done);
    CHECK(again.starts() == "j0 j1 j2 j3 ");  // as if nothing had been
  }
  HostedReplay sjf("sjf", {30, 20, 10});
  CHECK(sjf.call(ActionKind::set_order, "j1", 1) == CallOutcome::done);
  CHECK(sjf.starts() == "j0 j1 j3 j2 ");
}

// When j1 ends at 500, the user of j3 has used nothing, and the other one all there was: fairshares
// of 1 and 2^-2, which makes 7500 between their jobs.
TEST_CASE("an order counts in Slurm's priority beside its own factors") {
  for (const std::int64_t order : {0, 7000, 8000}) {
    INFO("order " << order);
    HostedReplay replay("slurm_backfill", {400, 10, 10}, 1);
    replay.advance(150);
    CHECK(replay.call(ActionKind::set_order, "j2", order) == CallOutcome::done);
    CHECK(replay.starts() == (order == 8000 ? "j0 j1 j2 j3 " : "j0 j1 j3 j2 "));
  }
}

TEST_CASE("a job that is held does not start before it is released") {
  for (const std::string_view policy : {"fifo", "sjf", "backfill_easy", "slurm_backfill"}) {
    INFO(policy);
    HostedReplay replay(policy, {10, 20, 30});
    CHECK(replay.call(ActionKind::hold, "j1") == CallOutcome::done);
    CHECK(replay.call(ActionKind::set_order, "j1", 4) == CallOutcome::done);
    replay.advance(1000);
    CHECK(need(replay.cluster->job("j1", soon))->phase == JobPhase::queued);
    CHECK(need(replay.cluster->job("j3", soon))->phase == JobPhase::ended);
    CHECK(replay.call(ActionKind::release, "j1") == CallOutcome::done);
    const SeenJob seen = need(replay.cluster->job("j1", soon)).value();
    CHECK(seen.phase == JobPhase::running);
    CHECK(seen.restarts == 0);
    CHECK(seen.order == 4);
    CHECK(replay.starts() == "j0 j2 j3 j1 ");
  }
}

TEST_CASE("a host starts nothing on a node that is drained") {
  HostedReplay replay("backfill_easy", {10});
  ActionCall call{
      .kind = ActionKind::drain_node, .nodes = {{"vc0-0", {}}}, .text = "schedmate:a/1"};
  CHECK(replay.cluster->call(call, soon).outcome == CallOutcome::done);
  replay.advance(1000);
  CHECK(need(replay.cluster->job("j1", soon))->phase == JobPhase::queued);
  call.kind = ActionKind::undrain_node;
  CHECK(replay.cluster->call(call, soon).outcome == CallOutcome::done);
  CHECK(need(replay.cluster->job("j1", soon))->started == at(1000));
}

TEST_CASE("a host with an order of its own alone lets nobody set it") {
  HostedReplay replay("schedmate", {10});
  CHECK(!need(replay.cluster->abilities(soon)).lack(ActionKind::set_order).empty());
  CHECK(replay.call(ActionKind::set_order, "j1", 1) == CallOutcome::refused);
}

}  // namespace
}  // namespace schedmate::replay
