// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <array>
#include <schedmate/queue_forecaster.hpp>

#include "base/random.hpp"
#include "tests/support/need.hpp"
#include "tests/support/small.hpp"

namespace schedmate::eta {
namespace {

using testing::need;
using testing::small_cluster;

constexpr SimTime as_of = at(std::int64_t{30} * 86'400);

/// A queue that changes at random: two pools of 32 GPUs, of whose jobs some run.
class ChangingQueue {
 public:
  explicit ChangingQueue(std::uint64_t seed) : random_(mix(seed)) {
    snapshot.now = as_of;
    snapshot.pools = small_cluster({4, 4}).partitions;
    snapshot.limits = {{.name = "few", .gpus = 12}};
    snapshot.changes = {{as_of + Seconds(2000), 0, 1, NodeState::drained},
                        {as_of + Seconds(9000), 0, 1, NodeState::up}};
    for (int i = 0; i < 200; ++i) {
      PastSubmission past;
      past.submit = as_of - Seconds(200 - i) * 3000;
      past.pool = static_cast<std::uint32_t>(random_.below(2));
      past.gpus = size();
      past.ran_s = static_cast<double>(random_.between(100, 20'000));
      past.planned = FractionalSeconds(2 * past.ran_s);
      snapshot.past.push_back(past);
    }
  }

  SnapshotJob job() {
    SnapshotJob made;
    made.id = std::to_string(next_++);
    made.user = static_cast<std::uint32_t>(random_.below(4));
    made.pool = static_cast<std::uint32_t>(random_.below(2));
    made.gpus = size();
    made.submit = as_of - Seconds(100);
    made.burst = static_cast<std::uint32_t>(random_.below(5));
    made.planned = FractionalSeconds(random_.between(100, 50'000));
    if (random_.below(4) == 0) made.belief.known_s = random_.between(100, 50'000);
    if (random_.below(3) == 0) made.limits = {0};
    if (random_.below(5) == 0) made.eligible = as_of + Seconds(random_.between(1, 6000));
    // One GPU always finds room, as few run.
    if (random_.below(3) == 0) {
      made.gpus = 1;
      made.started = as_of - Seconds(random_.between(1, 10'000));
    }
    return made;
  }
  /// Of the one to end.
  std::size_t below(std::size_t bound) {
    return static_cast<std::size_t>(random_.below(static_cast<std::int64_t>(bound)));
  }

  QueueSnapshot snapshot;

 private:
  std::int32_t size() {
    constexpr std::array sizes{1, 1, 2, 4, 8, 16};
    return sizes[below(sizes.size())];
  }
  Random random_;
  int next_ = 0;
};

void check_equal(const QueueForecast& one, const QueueForecast& other) {
  const auto instants = [](const InstantQuantiles& of) {
    return std::array{of.p10, of.p25, of.p50, of.p75, of.p90};
  };
  CHECK(one.samples == other.samples);
  REQUIRE(one.jobs.size() == other.jobs.size());
  for (std::size_t i = 0; i < one.jobs.size(); ++i) {
    CAPTURE(i);
    const JobForecast& a = one.jobs[i];
    const JobForecast& b = other.jobs[i];
    CHECK(instants(a.end) == instants(b.end));
    REQUIRE(a.start.has_value() == b.start.has_value());
    if (a.start) CHECK(instants(*a.start) == instants(*b.start));
    CHECK(a.block == b.block);
    CHECK(a.limit == b.limit);
    CHECK(a.waits_s == b.waits_s);
    REQUIRE(a.awaited.size() == b.awaited.size());
    for (std::size_t j = 0; j < a.awaited.size(); ++j) {
      CHECK(a.awaited[j].job == b.awaited[j].job);
      CHECK(a.awaited[j].share == b.awaited[j].share);
    }
  }
}

TEST_CASE("after any changes a forecaster says what a fresh forecast says") {
  for (const std::string_view policy : {"fifo", "backfill_easy", "slurm_backfill", "srtf"})
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
      CAPTURE(policy);
      CAPTURE(seed);
      ChangingQueue queue(seed);
      QueueSnapshot& expected = queue.snapshot;
      for (int i = 0; i < 12; ++i) expected.jobs.push_back(queue.job());
      const Scheduler scheduler = need(make_scheduler(policy, {ClusterSpec{expected.pools}}, {}));
      const EtaOptions options{.samples = 60, .seed = seed, .threads = 2};
      QueueForecaster forecaster(expected, scheduler, options);
      for (int step = 0; step < 8; ++step) {
        CAPTURE(step);
        for (std::size_t change = queue.below(3); change > 0; --change) {
          if (queue.below(2) == 0 || expected.jobs.empty()) {
            expected.jobs.push_back(queue.job());
            need(forecaster.arrived(expected.jobs.back()));
          } else {
            const auto gone = expected.jobs.begin() +
                              static_cast<std::ptrdiff_t>(queue.below(expected.jobs.size()));
            need(forecaster.ended(gone->id));
            expected.jobs.erase(gone);
          }
        }
        if (queue.below(3) == 0) {
          expected.now += Seconds(queue.below(3000));
          need(forecaster.advance(expected.now));
        }
        EtaOptions few = options;
        few.samples = 7;
        if (step == 0)  // later, pools that have not changed say more
          check_equal(need(forecaster.forecast(few.samples)),
                      need(forecast_queue(expected, scheduler, few)));
        check_equal(need(forecaster.forecast()),
                    need(forecast_queue(expected, scheduler, options)));
      }
    }
}

TEST_CASE("changes that cannot be are errors, and change nothing") {
  ChangingQueue queue(1);
  const Scheduler fifo = need(make_scheduler("fifo", {ClusterSpec{queue.snapshot.pools}}, {}));
  QueueForecaster forecaster(queue.snapshot, fifo, {});
  SnapshotJob job = queue.job();
  job.pool = 7;
  CHECK(forecaster.arrived(job).error().message == "job 0 is in no partition");
  CHECK(forecaster.ended("nobody").error().message == "no job nobody waits or runs");
  CHECK(forecaster.advance(as_of - Seconds(1)).error().code == ErrorCode::invalid);
  CHECK(forecaster.snapshot().jobs.empty());
  CHECK(forecaster.snapshot().now == as_of);
  CHECK(need(forecaster.forecast()).jobs.empty());
}

TEST_CASE("a job that is in no partition can still leave the queue") {
  ChangingQueue queue(1);
  queue.snapshot.jobs.push_back(queue.job());
  queue.snapshot.jobs.back().pool = 7;
  const Scheduler fifo = need(make_scheduler("fifo", {ClusterSpec{queue.snapshot.pools}}, {}));
  QueueForecaster forecaster(queue.snapshot, fifo, {});
  CHECK(forecaster.forecast().error().message == "job 0 is in no partition");
  need(forecaster.ended("0"));
  CHECK(need(forecaster.forecast()).jobs.empty());
}

}  // namespace
}  // namespace schedmate::eta
