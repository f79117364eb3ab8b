// SPDX-License-Identifier: Apache-2.0
/// A run of months: ten million jobs enter one virtual cluster, and memory follows those that are
/// there.
#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <schedmate/scheduler.hpp>

#include "tests/support/need.hpp"
#include "tests/support/plain_cluster.hpp"
#include "tests/support/small.hpp"

namespace schedmate::conformance {
namespace {

double resident_mib() {
  std::ifstream statm("/proc/self/statm");
  long pages = 0;
  long resident = 0;
  statm >> pages >> resident;
  return static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE)) / (1 << 20);
}

/// Two arrive a second and run for up to 40 s, on 96 GPUs: some wait, none for long.
testing::PlainCluster::Submission nth_job(std::uint64_t number) {
  testing::PlainCluster::Submission made;
  made.job.number = number;
  made.job.user = static_cast<std::uint32_t>(number % 50);
  made.job.gpus = 1 + static_cast<std::int32_t>(number % 3 == 0);
  made.job.submit = at(static_cast<std::int64_t>(number / 2));
  made.run_time = Seconds(10 + static_cast<std::int64_t>(number * 7 % 31));
  return made;
}

/// What a run took, once it had settled.
struct Growth {
  double resident_mib = 0;
  std::size_t most_jobs = 0;  ///< for which there was memory at one time
};

Growth run(const Scheduler& scheduler, std::uint64_t entries) {
  const PartitionSpec vc = testing::small_cluster({12}).partitions.front();
  testing::PlainCluster cluster(
      vc, {scheduler.decide, testing::need(make_estimator(scheduler, "last_k", {}))}, false);
  Growth growth;
  double settled_mib = 0;
  for (std::uint64_t number = 0; number < entries; number += 2) {
    cluster.submit(nth_job(number));
    cluster.submit(nth_job(number + 1));
    while (cluster.now() < nth_job(number).job.submit && cluster.step()) {
    }
    growth.most_jobs = std::max(growth.most_jobs, cluster.capacity());
    if (number == entries / 10) settled_mib = resident_mib();
  }
  growth.resident_mib = resident_mib() - settled_mib;
  CHECK(cluster.finished() > entries - 10'000);
  CHECK(cluster.complaints().empty());
  return growth;
}

Scheduler scheduler_of(const std::string& policy) {
  const ClusterSpec cluster = testing::small_cluster({12});
  PolicyOptions options;
  if (policy == "tiresias") options.add_defaults("interval_s=1");
  return testing::need(make_scheduler(policy, {cluster}, std::move(options)));
}

constexpr std::uint64_t ten_million = 10'000'000;
constexpr double most_mib = 4;

void check_bounded(const std::string& policy, std::uint64_t entries) {
  CAPTURE(policy);
  const Growth growth = run(scheduler_of(policy), entries);
  CHECK(growth.resident_mib < most_mib);
  CHECK(growth.most_jobs < 10'000);
}

TEST_CASE("memory follows the jobs that are there: fifo, ten million") {
  check_bounded("fifo", ten_million);
}

TEST_CASE("memory follows the jobs that are there: schedmate, ten million") {
  check_bounded("schedmate", ten_million);
}

TEST_CASE("memory follows the jobs that are there: other policies, ten million in all") {
  for (const char* policy : {"lucid", "tiresias", "srtf", "slurm_backfill", "backfill_easy"})
    check_bounded(policy, ten_million / 5);
}

TEST_CASE("a policy that keeps four bytes of each job that was is found out") {
  Scheduler scheduler = scheduler_of("fifo");
  scheduler.decide = [inner = scheduler.decide, kept = std::vector<std::uint32_t>()](
                         const View& view, Plan& plan) mutable {
    kept.resize(index_of(view.jobs.end()), 1);
    inner(view, plan);
  };
  CHECK(run(scheduler, ten_million / 5).resident_mib > most_mib);
}

}  // namespace
}  // namespace schedmate::conformance
