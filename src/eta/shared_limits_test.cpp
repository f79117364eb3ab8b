// SPDX-License-Identifier: Apache-2.0
#include "eta/shared_limits.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>

#include "base/random.hpp"
#include "eta/pool_replay.hpp"
#include "tests/support/need.hpp"
#include "tests/support/small.hpp"

namespace schedmate::eta {
namespace {

using testing::need;
using testing::small_cluster;

constexpr SimTime moment = at(1000);

/// Whoever runs it knows that it takes 500 s.
SnapshotJob limited(const char* id, int gpus, std::vector<std::uint32_t> limits) {
  SnapshotJob made;
  made.id = id;
  made.gpus = gpus;
  made.submit = moment - Seconds(10);
  made.planned = Seconds(500);
  made.belief = {.curve = nullptr, .known_s = 500};
  made.limits = std::move(limits);
  return made;
}

SnapshotJob runs(SnapshotJob job) {
  job.started = moment - Seconds(100);
  return job;
}

QueueSnapshot queue_of(std::vector<SharedLimit> limits, std::vector<SnapshotJob> jobs,
                       const std::vector<int>& nodes = {2}) {
  QueueSnapshot snapshot;
  snapshot.now = moment;
  snapshot.pools = small_cluster(nodes).partitions;
  snapshot.limits = std::move(limits);
  snapshot.jobs = std::move(jobs);
  return snapshot;
}

QueueForecast told(const QueueSnapshot& snapshot) {
  const Scheduler fifo = need(make_scheduler("fifo", {ClusterSpec{snapshot.pools}}, {}));
  return need(forecast_queue(snapshot, fifo, {.samples = 3}));
}

TEST_CASE("a job at a limit of GPUs is passed over until a run of the limit ends") {
  const auto forecast =
      told(queue_of({{.name = "grp", .gpus = 8}}, {runs(limited("a", 6, {0})), limited("b", 4, {0}),
                                                   limited("c", 2, {0}), limited("d", 8, {})}));
  const auto start = [&](std::size_t i) { return forecast.jobs[i].start->p50; };
  CHECK(start(1) == moment + Seconds(400));  // when a ends
  CHECK(forecast.jobs[1].block == QueueBlock::shared_limit);
  CHECK(forecast.jobs[1].limit == 0);
  CHECK(start(2) == moment);
  CHECK(forecast.jobs[2].block == QueueBlock::none);
  CHECK_FALSE(forecast.jobs[2].limit);
  CHECK(start(3) == moment);
}

TEST_CASE("a limit of jobs; the next is admitted in order; who is told of takes room") {
  const auto forecast = told(queue_of({{.name = "one", .jobs = 1}, {.name = "two", .jobs = 2}},
                                      {limited("a", 1, {0, 1}), limited("b", 1, {0, 1}),
                                       limited("c", 1, {1}), limited("d", 1, {1})}));
  const auto start = [&](std::size_t i) { return forecast.jobs[i].start->p50; };
  CHECK(start(0) == moment);
  CHECK(start(1) == moment + Seconds(500));
  CHECK(forecast.jobs[1].limit == 0);
  CHECK(start(2) == moment);
  CHECK(start(3) == moment + Seconds(500));
  CHECK(forecast.jobs[3].limit == 1);
}

TEST_CASE("a job that its limit is too low for never starts, and keeps nobody waiting") {
  const auto forecast =
      told(queue_of({{.name = "low", .gpus = 4}}, {limited("a", 8, {0}), limited("b", 4, {0})}));
  CHECK(forecast.jobs[0].start->p50 == never);
  CHECK(forecast.jobs[0].block == QueueBlock::shared_limit);
  CHECK(forecast.jobs[0].limit == 0);
  CHECK(forecast.jobs[1].start->p50 == moment);
}

TEST_CASE("what runs in another pool counts throughout") {
  SnapshotJob other = runs(limited("a", 6, {0}));
  other.pool = 1;
  const auto forecast = told(
      queue_of({{.name = "grp", .gpus = 8}},
               {other, limited("b", 2, {0}), limited("c", 2, {0}), limited("d", 4, {0})}, {2, 2}));
  CHECK(forecast.jobs[1].start->p50 == moment);
  CHECK(forecast.jobs[2].start->p50 == moment + Seconds(500));  // when b ends, not a
  CHECK(forecast.jobs[3].start->p50 == never);
}

TEST_CASE("a limit that is not there is an error") {
  const auto snapshot = queue_of({}, {limited("a", 1, {0})});
  const Scheduler fifo = need(make_scheduler("fifo", {ClusterSpec{snapshot.pools}}, {}));
  CHECK(forecast_queue(snapshot, fifo, {}).error().message ==
        "job a has a limit that is not there");
}

// a holds node 0 for 400 s more. b needs both nodes and waits; its limit has room for c, which is
// over before b could start. Slurm counts what runs, so c starts; d, of the same limit, finds none.
TEST_CASE("under Slurm's backfilling who waits takes no room in its limits") {
  SnapshotJob a = runs(limited("a", 8, {}));
  a.where = {{0, 0xff}};
  SnapshotJob c = limited("c", 4, {0}), d = limited("d", 4, {0});
  for (SnapshotJob* const job : {&c, &d}) {
    job->planned = FractionalSeconds(60);
    job->belief.known_s = 60;
  }
  const auto snapshot =
      queue_of({{.name = "grp", .gpus = 16, .jobs = 1}}, {a, limited("b", 16, {0}), c, d});
  const Scheduler slurm = need(make_scheduler("slurm_backfill", {ClusterSpec{snapshot.pools}}, {}));
  const auto forecast = need(forecast_queue(snapshot, slurm, {.samples = 3, .resolution = 0}));
  const auto start = [&](std::size_t i) { return forecast.jobs[i].start->p50; };
  CHECK(start(2) == moment);
  CHECK(forecast.jobs[2].block == QueueBlock::none);
  CHECK(start(3) >= moment + Seconds(60));
  CHECK(start(3) <= moment + Seconds(90));  // a pass is every 30 s
  CHECK(forecast.jobs[3].block == QueueBlock::shared_limit);
  CHECK(forecast.jobs[3].limit == 0);
  CHECK(start(1) >= moment + Seconds(400));
  CHECK(start(1) <= moment + Seconds(430));
}

/// The most GPUs and jobs at a time of those of a limit.
std::pair<std::int64_t, std::int64_t> peak(std::span<const SnapshotJob> jobs,
                                           const std::vector<Fate>& fates, std::uint32_t limit) {
  std::vector<std::tuple<SimTime, std::int64_t, std::int64_t>> changes;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (fates[i].start == never || std::ranges::find(jobs[i].limits, limit) == jobs[i].limits.end())
      continue;
    changes.emplace_back(fates[i].start, jobs[i].gpus, 1);
    changes.emplace_back(fates[i].end, -jobs[i].gpus, -1);
  }
  std::ranges::sort(changes);  // ends first
  std::int64_t gpus = 0, running = 0;
  std::pair<std::int64_t, std::int64_t> most{0, 0};
  for (const auto& [when, more_gpus, more_jobs] : changes) {
    gpus += more_gpus;
    running += more_jobs;
    most = {std::max(most.first, gpus), std::max(most.second, running)};
  }
  return most;
}

TEST_CASE("in no sample is a limit exceeded, and everybody who can starts") {
  for (const std::string_view policy : {"fifo", "backfill_easy", "slurm_backfill"})
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
      CAPTURE(policy);
      CAPTURE(seed);
      Random random(mix(seed));
      std::vector<SnapshotJob> jobs;
      std::vector<double> run_times_s;
      for (int i = 0; i < 60; ++i) {
        constexpr std::array sizes{1, 1, 2, 4, 8};
        const auto gpus = sizes[static_cast<std::size_t>(random.below(std::ssize(sizes)))];
        std::vector<std::uint32_t> limits;
        for (std::uint32_t limit = 0; limit < 3; ++limit)
          if (random.below(2) == 0) limits.push_back(limit);
        SnapshotJob& job = jobs.emplace_back(limited("", i < 2 ? 1 : gpus, std::move(limits)));
        job.id = std::to_string(i);
        if (i < 2) job = runs(job);
        if (random.below(4) == 0 && i >= 2) job.eligible = moment + Seconds(random.below(1000));
        run_times_s.push_back(static_cast<double>(random.between(200, 2000)));
      }
      const auto snapshot = queue_of({{.name = "gpus", .gpus = 9},
                                      {.name = "jobs", .jobs = 3},
                                      {.name = "both", .gpus = 12, .jobs = 2}},
                                     jobs, {4});
      const Scheduler scheduler = need(make_scheduler(policy, {ClusterSpec{snapshot.pools}}, {}));
      const auto replay = need(PoolReplay::make(snapshot, 0, jobs, scheduler));
      const auto nobody = [] { return std::optional<Submission>(); };
      const auto fates = replay.run({run_times_s, {}, moment + Seconds(1'000'000)}, nobody);
      for (const Fate& fate : fates) CHECK(fate.start != never);
      CHECK(peak(jobs, fates, 0).first <= 9);
      CHECK(peak(jobs, fates, 1).second <= 3);
      CHECK(peak(jobs, fates, 2).first <= 12);
      CHECK(peak(jobs, fates, 2).second <= 2);
      CHECK(peak(jobs, fates, 1).second == 3);  // and no lower one
    }
}

}  // namespace
}  // namespace schedmate::eta
