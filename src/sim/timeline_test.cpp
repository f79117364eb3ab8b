// SPDX-License-Identifier: Apache-2.0
#include "sim/timeline.hpp"

#include <doctest/doctest.h>

#include <numeric>

#include "base/random.hpp"
#include "tests/support/near.hpp"

namespace schedmate::sim {
namespace {

using testing::near;

double gpu_seconds(const Timeline& timeline) {
  double sum = 0;
  for (const TimelineBin& bin : timeline.bins) sum += bin.busy_gpus;
  return sum * static_cast<double>(timeline.step.count());
}

Timeline merged(TimelineRecorder recorder) {
  std::vector<TimelineRecorder> recorders{std::move(recorder)};
  return TimelineRecorder::merge(recorders);
}

TEST_CASE("a bin is the mean over its width") {
  TimelineRecorder recorder(at(1000), at(1000));
  recorder.advance({}, at(1030));
  recorder.advance({.busy_gpus = 8, .queued_jobs = 2}, at(1090));
  const Timeline timeline = merged(recorder);
  // Bins of 60 s: 30 s of 8 GPUs in each of the first two.
  REQUIRE(timeline.bins.size() == 2);
  CHECK(timeline.first == at(1000));
  CHECK(timeline.step == Seconds(60));
  CHECK(timeline.bins[0].busy_gpus == 4);
  CHECK(timeline.bins[1].busy_gpus == 4);
  CHECK(timeline.bins[1].queued_jobs == 1);
}

TEST_CASE("the window from first to last submission is measured to the second") {
  // 4 GPUs until 90, then 2 until 500; the last submission is at 100: (90 * 4 + 10 * 2) / 100 = 3.8
  TimelineRecorder recorder(at(0), at(100));
  recorder.advance({.busy_gpus = 4}, at(90));
  recorder.advance({.busy_gpus = 2}, at(500));
  CHECK(near(merged(std::move(recorder)).submitting.busy_gpus, 3.8, 1e-12, 0));
}

TEST_CASE("the means over the submissions end with the last one, whatever the bins") {
  TimelineRecorder recorder(at(0), at(100));
  recorder.advance({.busy_gpus = 4}, at(50));
  recorder.advance({.busy_gpus = 8, .queued_jobs = 3}, at(150));
  recorder.advance({.busy_gpus = 80}, at(1000));
  const Timeline timeline = merged(recorder);
  CHECK(near(timeline.submitting.busy_gpus, 6, 1e-12, 0));  // (4 x 50 + 8 x 50) / 100
  CHECK(near(timeline.submitting.queued_jobs, 1.5, 1e-12, 0));
  CHECK(merged(TimelineRecorder(at(5), at(5))).submitting.busy_gpus == 0);
}

TEST_CASE("widening the bins keeps every GPU second, and their number stays bounded") {
  Random random(3);
  TimelineRecorder recorder(at(0), at(0));
  std::int64_t now = 0;
  double expected = 0;
  for (int i = 0; i < 3000; ++i) {
    const std::int64_t step = random.between(1, 2000);
    const auto level = static_cast<double>(random.below(100));
    now += step;
    expected += level * static_cast<double>(step);
    recorder.advance({.busy_gpus = level}, at(now));
  }
  const Timeline timeline = merged(recorder);
  CHECK(near(gpu_seconds(timeline), expected, 1e-12, 0));
  CHECK(timeline.bins.size() <= 4096);
  CHECK(timeline.bins.size() > 1024);
  CHECK(timeline.step.count() % 60 == 0);
}

TEST_CASE("recorders of different widths add up on the widest") {
  TimelineRecorder shorter(at(0), at(0));
  shorter.advance({.busy_gpus = 3}, at(600));
  TimelineRecorder longer(at(0), at(0));
  longer.advance({.busy_gpus = 1}, at(300'000));
  std::vector<TimelineRecorder> recorders{shorter, longer};
  const Timeline timeline = TimelineRecorder::merge(recorders);
  CHECK(timeline.step == Seconds(120));
  CHECK(timeline.bins[0].busy_gpus == 4);
  CHECK(timeline.bins[4].busy_gpus == 4);
  CHECK(timeline.bins[5].busy_gpus == 1);
  CHECK(near(gpu_seconds(timeline), 3 * 600 + 300'000, 1e-12, 0));
}

TEST_CASE("the peak queue is that of all VCs at one instant, not the sum of their peaks") {
  TimelineRecorder one(at(0), at(0));
  one.queue_length(at(0), 5);
  one.queue_length(at(10), 1);
  TimelineRecorder two(at(0), at(0));
  two.queue_length(at(5), 2);
  two.queue_length(at(10), 4);
  std::vector<TimelineRecorder> recorders{one, two};
  // 5 from 0, 5 + 2 from 5, 1 + 4 from 10.
  CHECK(TimelineRecorder::merge(recorders).peak_queue == 7);
}

TEST_CASE("only the last queue length of an instant counts, and equal ones are not kept") {
  TimelineRecorder recorder(at(0), at(0));
  recorder.queue_length(at(1), 9);
  recorder.queue_length(at(1), 2);
  recorder.queue_length(at(2), 2);
  CHECK(recorder.queue_steps().size() == 1);
  CHECK(merged(recorder).peak_queue == 2);
}

}  // namespace
}  // namespace schedmate::sim
