// SPDX-License-Identifier: Apache-2.0
/// The promise of the live loop: over a replay it gives the simulator's schedule, job by job.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <schedmate/forecast.hpp>
#include <schedmate/scheduler.hpp>
#include <schedmate/sim.hpp>
#include <schedmate/trace.hpp>

#include "live/loop.hpp"
#include "replay/cluster.hpp"
#include "tests/conformance/random_world.hpp"
#include "tests/replay/hosted.hpp"
#include "tests/support/effort.hpp"
#include "tests/support/estimators.hpp"
#include "tests/support/loop_driver.hpp"
#include "tests/support/need.hpp"
#include "tests/support/needs.hpp"

namespace schedmate {
namespace {

using testing::need;

struct Case {
  const Trace& trace;
  const ClusterSpec& cluster;
  const Scheduler& scheduler;
  Estimator estimator;
  /// Whose use of GPUs is predicted: it is not known otherwise until it was measured.
  bool (*is_predicted)(std::uint32_t row) = [](std::uint32_t /*row*/) { return false; };
};

std::vector<JobOutcome> live_outcomes(const Case& of) {
  const ClusterSpec nodes = replay::with_profiler(of.cluster, of.scheduler);
  replay::ReplayCluster cluster(of.trace, nodes, {});
  live::LoopOptions options;
  options.settings.modes.order = options.settings.modes.pack = Mode::act;
  options.settings.caps.actions_per_hour = 1'000'000;
  options.poll = Seconds(0);
  options.pool = [&](const std::string& name) {
    live::VirtualCluster::Setup setup;
    setup.name = name;
    const bool profiles = of.scheduler.profiler && name == of.scheduler.profiler->nodes.name;
    setup.policy = profiles ? of.scheduler.profiler->decide : of.scheduler.decide;
    setup.packs = of.scheduler.packs && !profiles;
    setup.spares = replay::spares_of(name, of.scheduler);
    if (of.trace.packing != nullptr) setup.sharing = of.trace.packing->sharing;
    if (of.estimator && !profiles) setup.estimator = testing::ByTrace(of.estimator, of.trace);
    for (const PartitionSpec& partition : nodes.partitions)
      if (partition.name == name) setup.round = partition.round;
    return setup;
  };
  if (const auto& stage = of.scheduler.profiler)
    options.profiling = {stage->nodes.name, stage->time, stage->max_gpus, stage->bypass};
  std::map<std::string, std::uint32_t> rows;
  for (std::uint32_t row = 0; row < of.trace.jobs.size(); ++row)
    rows[std::string(of.trace.jobs[row].id)] = row;
  options.profile = [&](const SeenJob& job) -> const Profile* {
    const std::uint32_t row = rows.at(job.id);
    if (job.restarts == 0 && of.is_predicted(row)) return nullptr;
    return known_job(of.trace, row).profile;
  };
  live::Loop loop(options, {}, cluster.now());
  testing::LoopDriver driver(loop, cluster, [](const journal::Batch&) { return Result<void>(); });
  driver.tell(live::Ticked{}, cluster.now() - Seconds(1));  // while nothing is there
  int idle = 0;
  for (;;) {
    SimTime next = cluster.next_instant();
    if (next == never && loop.jobs().waiting() == 0) break;
    idle = next == never ? idle + 1 : 0;
    next = std::min(next, loop.next_wake());
    if (next == never) break;
    if (idle > 1000) break;
    cluster.advance(next);
    driver.tell(live::Ticked{}, next);
  }
  return cluster.outcomes();
}

SimResult check_same(const Case& of, const std::vector<JobOutcome>& live) {
  SimOptions options;
  options.estimator = of.estimator;
  SimResult simulated = need(simulate(of.trace, of.cluster, of.scheduler, options));
  for (std::size_t row = 0; row < live.size(); ++row) {
    const JobOutcome &a = simulated.outcomes[row], &b = live[row];
    INFO("job " << of.trace.jobs[row].id << " simulated " << seconds_of(a.start) << " "
                << seconds_of(a.end) << ", live " << seconds_of(b.start) << " "
                << seconds_of(b.end));
    REQUIRE(a.started == b.started);
    if (a.started) REQUIRE(a.start == b.start);
    REQUIRE((a.status == JobStatus::finished) == (b.status == JobStatus::finished));
    if (a.status == JobStatus::finished) {
      REQUIRE(a.end == b.end);
      // What comes out of nowhere in the simulator is the profiler's last node here.
      Placement nodes = b.nodes;
      if (a.finished_in_profiler)
        for (Slice& slice : nodes)
          if (std::cmp_equal(slice.node, of.scheduler.profiler->nodes.nodes)) slice.node = 9999;
      REQUIRE(a.nodes == nodes);
    }
  }
  return simulated;
}

/// Those that preempt, whose profiler has cases of its own below, or whose Failure Handler the loop
/// has itself.
constexpr std::array<std::string_view, 7> others = {
    "srtf", "tiresias", "tiresias+sm", "schedmate_preemptive", "lucid", "lucid+sm", "schedmate+fh"};

std::vector<PolicyRow> without_preemption() {
  std::vector<PolicyRow> rows;
  for (const PolicyRow& row : policy_rows())
    if (std::ranges::find(others, row.name) == others.end()) rows.push_back(row);
  return rows;
}

TEST_CASE("the loop over a replay gives the simulator's schedule, in random worlds") {
  for (const PolicyRow& row : without_preemption()) {
    for (std::uint64_t seed = 1; seed <= testing::cases(100); ++seed) {
      const conformance::World world = conformance::random_world(seed);
      INFO(row.name << ", seed " << seed);
      const Scheduler scheduler = need(make_scheduler(row, {world.cluster}, {}));
      const Case each{world.trace, world.cluster, scheduler,
                      testing::estimator(scheduler.estimator, world.trace)};
      check_same(each, live_outcomes(each));
      check_same(
          each,
          testing::hosted(each.trace, each.cluster, {each.scheduler, each.estimator}).outcomes);
    }
  }
}

TEST_CASE("the loop drives lucid and its profiler as the simulator does, in random worlds") {
  struct Variant {
    const char *row, *options;
  };
  // Packings are cancelled by what logs show, and these jobs write none.
  for (const auto& [row, growth] :
       {Variant{"lucid", "elastic=false"}, Variant{"lucid", "elastic=true"},
        Variant{"lucid+sm", "cancel=off"}}) {
    for (std::uint64_t seed = 1; seed <= testing::cases(200); ++seed) {
      const conformance::World world = conformance::random_world(seed);
      INFO(row << ", " << growth << ", seed " << seed);
      PolicyOptions options;
      options.add_defaults(growth);
      const auto scheduler = make_scheduler(row, {world.cluster}, std::move(options));
      if (!scheduler) continue;  // no VC to lend a node
      const Case each{world.trace, world.cluster, *scheduler,
                      testing::estimator(scheduler->estimator, world.trace)};
      check_same(each, live_outcomes(each));
    }
  }
}

bool is_even(std::uint32_t row) { return row % 2 == 0; }

Prediction known_by_half(const EnteringJob& entering) {
  Prediction prediction{.run_time = FractionalSeconds(100.0 * (1 + entering.job.gpus))};
  if (entering.job.profile != nullptr && is_even(static_cast<std::uint32_t>(entering.job.number)))
    prediction.use = GpuUse{40, 20, 4000};
  return prediction;
}

TEST_CASE("jobs whose use is expected bypass the profiler as in the simulator") {
  for (const char* const bypass : {"bypass=all", "bypass=outlasting", "bypass=free"}) {
    for (std::uint64_t seed = 1; seed <= testing::cases(100); ++seed) {
      conformance::World world = conformance::random_world(seed);
      if (world.trace.packing == nullptr)
        world.trace.packing = std::make_shared<const PackingTables>();
      INFO(bypass << ", seed " << seed);
      PolicyOptions options;
      options.add_defaults(bypass);
      const auto scheduler = make_scheduler("lucid", {world.cluster}, std::move(options));
      if (!scheduler) continue;
      const Case each{world.trace, world.cluster, *scheduler, Estimator(known_by_half), is_even};
      check_same(each, live_outcomes(each));
    }
  }
}

/// On the 13 days of Venus with the GPU use that Lucid's authors gave their jobs: its profiler
/// grows and shrinks, jobs share GPUs.
TEST_CASE(
    "the loop drives lucid, with SchedMate, too, and horus as the simulator does, on 13 days of "
    "Venus" *
    testing::needs_shared("data/lucid")) {
  const Trace trace = need(read_trace("lucid:" + testing::shared("data/lucid/input"), {}));
  REQUIRE(trace.cluster);
  // Packings are cancelled by what logs show, and these jobs write none.
  for (const auto& [name, cancel] :
       {std::pair{"lucid", ""}, std::pair{"lucid+sm", "cancel=off"}, std::pair{"horus", ""}}) {
    INFO(name);
    PolicyOptions options;
    options.add_defaults(cancel);
    const Scheduler scheduler =
        need(make_scheduler(name, {*trace.cluster, {}, 1, forecast_of(trace)}, std::move(options)));
    const Case each{trace, *trace.cluster, scheduler,
                    testing::estimator(scheduler.estimator, trace)};
    const SimResult simulated = check_same(each, live_outcomes(each));
    CHECK(simulated.profiler_scaling.empty() == !scheduler.profiler);
  }
}

TEST_CASE("the loop over a replay gives the simulator's schedule, on 13 days of Venus") {
  const Trace trace = need(
      read_trace("helios:" SCHEDMATE_SOURCE_DIR "/data/venus/venus_sept2020_days0-12.csv.gz", {}));
  REQUIRE(trace.cluster);
  for (const PolicyRow& row : without_preemption()) {
    if (row.name == "horus") continue;  // these rows have no profiles
    INFO(row.name);
    const Scheduler scheduler = need(make_scheduler(row, {*trace.cluster}, {}));
    const Case each{trace, *trace.cluster, scheduler,
                    testing::estimator(scheduler.estimator, trace)};
    check_same(each, live_outcomes(each));
    check_same(
        each, testing::hosted(each.trace, each.cluster, {each.scheduler, each.estimator}).outcomes);
  }
}

}  // namespace
}  // namespace schedmate
