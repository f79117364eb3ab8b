// SPDX-License-Identifier: Apache-2.0
/// Packing cancellation, seen from what lucid does: j0 is alone on the only node and j1 joins it.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <schedmate/sim.hpp>

#include "tests/support/small.hpp"

namespace schedmate::policy {
namespace {

using testing::small_cluster;
using testing::small_trace;
using testing::SmallJob;
using Settings = std::map<std::string, std::string, std::less<>>;

struct Pack {
  std::vector<SmallJob> jobs{{.submit_s = 0, .gpus = 8, .duration_s = 1000, .profile = 0},
                             {.submit_s = 100, .gpus = 8, .duration_s = 1000, .profile = 0}};
  PairRate speeds{0.5, 0.5};  // of newcomer and resident
  double tracked_share = 1;
  int nodes = 1;

  [[nodiscard]] std::vector<JobOutcome> replay(Settings settings) const {
    Trace trace = small_trace(jobs);
    PackingTables tables;
    tables.profiles.resize(1);
    tables.pairs = {speeds};
    trace.packing = std::make_shared<const PackingTables>(std::move(tables));
    settings.insert({{"profiler", "off"}, {"packing", "on"}});
    const ClusterSpec cluster = small_cluster({nodes});
    const Scheduler lucid = make_scheduler("lucid", {cluster, {}, 1, forecast_of(trace)},
                                           PolicyOptions(std::move(settings)))
                                .value();
    SimOptions options;
    options.costs.tracked_share = tracked_share;
    return simulate(trace, cluster, lucid, options).value().outcomes;
  }
};

/// j1 runs from 100 to 160 at half speed, then waits for j0.
void check_cancelled(const std::vector<JobOutcome>& jobs) {
  CHECK(jobs[0].evictions == 0);
  CHECK(jobs[0].end == at(1030));
  CHECK(jobs[0].unpacked_at == at(160));
  CHECK(jobs[1].start == at(100));
  CHECK(jobs[1].evictions == 1);
  CHECK(jobs[1].lost_gpu_s == 8 * 30);
  CHECK(jobs[1].held_gpu_s == 8 * 1060);
  CHECK(jobs[1].queue == Seconds(1030 - 160));
  CHECK(jobs[1].end == at(2030));
  CHECK(jobs[1].preemptions == 0);
}

/// Both share from 100 on: j0 has 900 s left, which take 1800.
void check_kept(const std::vector<JobOutcome>& jobs) {
  CHECK(jobs[0].end == at(1900));
  CHECK(jobs[1].evictions == 0);
  CHECK(jobs[1].lost_gpu_s == 0);
  CHECK(jobs[1].end == at(2000));
}

TEST_CASE("a newcomer goes when the resident is slower than the threshold, its progress lost") {
  check_cancelled(Pack().replay({{"cancel", "slowdown"}}));
  check_cancelled(Pack().replay({{"cancel", "slowdown"}, {"threshold", "0.51"}}));
}

TEST_CASE("it stays at the threshold, and when nothing is to be cancelled") {
  check_kept(Pack().replay({{"cancel", "slowdown"}, {"threshold", "0.5"}}));
  check_kept(Pack().replay({}));
  check_kept(Pack().replay({{"cancel", "off"}, {"threshold", "1"}}));
}

TEST_CASE("nothing is cancelled when the resident's log does not show its speed") {
  Pack silent;
  silent.tracked_share = 0;
  check_kept(silent.replay({{"cancel", "slowdown"}}));
  check_kept(silent.replay({{"cancel", "gain"}, {"check_both", "true"}}));
}

TEST_CASE("the look is cancel_after_s after the packing, and only at those that still share") {
  const auto jobs = Pack().replay({{"cancel", "slowdown"}, {"cancel_after_s", "200"}});
  CHECK(jobs[0].unpacked_at == at(300));
  CHECK(jobs[1].lost_gpu_s == 8 * 100);
  Pack brief;
  brief.jobs[1].duration_s = 20;  // over at 140
  CHECK(brief.replay({{"cancel", "slowdown"}})[1].evictions == 0);
}

TEST_CASE("an evicted newcomer joins nobody, and nobody joins it") {
  // j1 leaves at 160 and waits, though j2 on the other node would take it; there j3 ends at 400.
  Pack two;
  two.nodes = 2;
  two.jobs = {{.submit_s = 0, .gpus = 8, .duration_s = 1000, .profile = 0},
              {.submit_s = 0, .gpus = 8, .duration_s = 400},
              {.submit_s = 100, .gpus = 8, .duration_s = 1000, .profile = 0},
              {.submit_s = 500, .gpus = 8, .duration_s = 10, .profile = 0}};
  const auto jobs = two.replay({{"cancel", "slowdown"}});
  CHECK(jobs[2].evictions == 1);
  CHECK(jobs[2].start == at(100));
  // It goes on alone at 400; the last one joins j0 at 500, not it.
  CHECK(jobs[2].end == at(1400));
  CHECK(jobs[3].start == at(500));
  CHECK(jobs[3].nodes == jobs[0].nodes);
}

TEST_CASE("with check_both a slow newcomer goes too, unless the profiler measured it") {
  Pack lopsided;
  lopsided.speeds = {0.25, 1};
  CHECK(lopsided.replay({{"cancel", "slowdown"}})[1].evictions == 0);
  CHECK(lopsided.replay({{"cancel", "slowdown"}, {"check_both", "true"}})[1].evictions == 1);
}

TEST_CASE("cancel=gain keeps a pair that ends sooner together, whatever the threshold") {
  // At 0.5 both: j0 would end at 1030 and j1 at 2030 instead of 1900 and 2000: cancelled.
  check_cancelled(Pack().replay({{"cancel", "gain"}, {"threshold", "0"}}));
  // A newcomer of 100 s at 0.75: at 160 it needs 53 s more for the 40 s that are expected to be
  // left. Together 853 + 53 s, apart 840 + 100 and a wait that is not known yet.
  Pack brief;
  brief.speeds = {0.75, 0.75};
  brief.jobs[1].duration_s = 100;
  const auto jobs = brief.replay({{"cancel", "gain"}, {"threshold", "1"}});
  CHECK(jobs[1].evictions == 0);
  CHECK(jobs[1].end == at(234));
  CHECK(brief.replay({{"cancel", "slowdown"}, {"threshold", "1"}})[1].evictions == 1);
}

TEST_CASE("settings of the cancellation that make no sense are errors that say so") {
  const Trace trace = small_trace({{0, 1, 10}});
  const ClusterSpec cluster = small_cluster({1});
  for (const auto& [key, value] : Settings{{"cancel", "always"},
                                           {"cancel_after_s", "0"},
                                           {"check_both", "perhaps"},
                                           {"threshold", "1.5"}}) {
    const auto made = make_scheduler("lucid", {cluster, {}, 1, forecast_of(trace)},
                                     PolicyOptions(Settings{{key, value}}));
    REQUIRE_FALSE(made.has_value());
    CHECK(made.error().code == ErrorCode::unsupported);
    CHECK(made.error().message.find(fmt::format("{}={}", key, value)) != std::string::npos);
  }
}

}  // namespace
}  // namespace schedmate::policy
