// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cmath>
#include <schedmate/report.hpp>

#include "report/fairness.hpp"
#include "report/sample.hpp"
#include "tests/support/near.hpp"

namespace schedmate::report {

using testing::near;

TEST_CASE("the summary of a small replay is the one worked out by hand") {
  const Trace trace = sample::trace();
  const ClusterSpec cluster = sample::cluster();
  const RunSummary s = summarise(sample::record(trace, cluster));
  CHECK(s.jobs == 5);
  CHECK(s.finished == 4);
  CHECK(s.infeasible == 1);
  CHECK(s.stalled == 0);
  // JCT 50 55 100 150, queue 0 0 50 50, slowdown 1 1 1.5 5.5
  CHECK(s.jct_s.average == 88.75);
  CHECK(s.jct_s.p50 == 55);
  CHECK(s.jct_s.p99 == 150);
  CHECK(s.queue_s.average == 25);
  CHECK(s.queue_s.p50 == 0);
  CHECK(s.queue_s.p90 == 50);
  CHECK(s.slowdown.average == 2.25);
  CHECK(s.slowdown.max == 5.5);
  CHECK(s.makespan == Seconds(300));  // 400 - 100
  // Two preemptions of a job of 4 GPUs, 40 s each.
  CHECK(s.preemptions == 2);
  CHECK(s.wasted_gpu_s == 320);
  CHECK(s.peak_queue == 1);
  // User means: ada (1 + 5.5) / 2 = 3.25, bob (1.5 + 1) / 2 = 1.25;
  // (4.5)^2 / (2 * (10.5625 + 1.5625)) = 20.25 / 24.25
  CHECK(near(s.jain_index, 20.25 / 24.25, 1e-12, 0));
}

TEST_CASE("use of the cluster is measured between first and last submission") {
  const Trace trace = sample::trace();
  const ClusterSpec cluster = sample::cluster();
  const RunSummary use = summarise(sample::record(trace, cluster));
  // Of 8 GPUs, over the 200 s from the first to the last submission.
  CHECK(near(use.utilisation, 2.45 / 8, 1e-12, 0));
  CHECK(near(use.fragmentation, 2.0 / 8, 1e-12, 0));
  // 1*50 + 4*100 + 8*5 + 2*100 = 690; the infeasible job offers nothing.
  CHECK(near(use.offered_load, 690.0 / 1600, 1e-12, 0));
}

TEST_CASE("groups hold the finished jobs of a VC, a size class and a user") {
  const Trace trace = sample::trace();
  const ClusterSpec cluster = sample::cluster();
  const RunSummary s = summarise(sample::record(trace, cluster));
  REQUIRE(s.by_vc.size() == 1);
  CHECK(s.by_vc[0].jobs == 4);
  CHECK(s.by_vc[0].average_jct == FractionalSeconds(88.75));
  CHECK(s.by_vc[0].p99_jct == FractionalSeconds(150));
  REQUIRE(s.by_size.size() == 6);
  CHECK(s.by_size[0].name == "1");
  CHECK(s.by_size[1].name == "2-4");
  CHECK(s.by_size[1].jobs == 2);  // rows 1 and 3
  CHECK(s.by_size[1].average_jct == FractionalSeconds(125));
  CHECK(s.by_size[1].average_queue == FractionalSeconds(25));
  CHECK(s.by_size[2].average_slowdown == 5.5);
  CHECK(s.by_size[5].jobs == 0);  // the infeasible one does not count
  CHECK(std::isnan(s.by_size[5].average_slowdown));
  CHECK(std::isnan(s.by_size[5].p99_jct.count()));
  REQUIRE(s.by_user.size() == 2);
  CHECK(s.by_user[0].name == "ada");
  CHECK(s.by_user[0].average_slowdown == 3.25);
  CHECK(s.by_user[1].p99_jct == FractionalSeconds(150));
}

TEST_CASE("finish-time fairness compares with an equal share among the users present") {
  const Trace trace = sample::trace();
  const ClusterSpec cluster = sample::cluster();
  const std::vector<double> rho = finish_fairness(sample::record(trace, cluster));
  // Users present: ada [100, 150), bob [100, 250), ada [200, 255), bob [300, 400).
  // row 0: N = 2, share 4 GPUs, 1 needed: alone 50, rho 50/50
  // row 1: N = (50*2 + 50*1 + 50*2) / 150 = 5/3, share 4.8, 4 needed: alone 100, rho 150/100
  // row 2: N = (50*2 + 5*1) / 55 = 105/55, share 8*55/105, 8 needed: alone 5*105/55 = 9.54 -> 10
  // row 3: N = 1, share 8: rho 100/100
  REQUIRE(rho.size() == 4);
  CHECK(near(rho[0], 1.0, 1e-12, 0));
  CHECK(near(rho[1], 1.5, 1e-12, 0));
  CHECK(near(rho[2], 5.5, 1e-12, 0));
  CHECK(near(rho[3], 1.0, 1e-12, 0));
  CHECK(summarise(sample::record(trace, cluster)).share_worse_than_fair == 0.5);
}

TEST_CASE("a gang larger than its user's share counts as slower alone") {
  // Both users are there for all of [0, 200); each has 4 of 8 GPUs, the gang needs 8: alone it
  // would take 100 * 8 / 4 = 200 s, which is what it took.
  Trace trace;
  trace.users = {"ada", "bob"};
  trace.vcs = {"v"};
  trace.jobs = {sample::job(0, 8, 0, 100), sample::job(1, 8, 0, 100)};
  const ClusterSpec cluster = sample::cluster();
  RunRecord record{.run = {}, .trace = trace, .cluster = cluster, .result = {}};
  record.result.outcomes = {sample::outcome(trace.jobs[0], 100, 200),
                            sample::outcome(trace.jobs[1], 0, 200)};
  const std::vector<double> rho = finish_fairness(record);
  CHECK(near(rho[0], 1.0, 1e-12, 0));
  CHECK(near(rho[1], 1.0, 1e-12, 0));
}

TEST_CASE("without a finished job there are no values, and nothing breaks") {
  const Trace trace = sample::trace();
  const ClusterSpec cluster = sample::cluster();
  RunRecord record = sample::record(trace, cluster);
  for (JobOutcome& outcome : record.result.outcomes) outcome = JobOutcome{};
  const RunSummary s = summarise(record);
  CHECK(s.stalled == 5);
  CHECK(std::isnan(s.jct_s.average));
  CHECK(std::isnan(s.jain_index));
  CHECK(s.makespan == Seconds(0));
  CHECK(s.jct_cdf.back() == 0);
}

}  // namespace schedmate::report
