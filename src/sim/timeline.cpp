// SPDX-License-Identifier: Apache-2.0
#include "sim/timeline.hpp"

#include <algorithm>

namespace schedmate::sim {
namespace {

constexpr std::size_t most_bins = 4096;

void add(TimelineBin& to, const TimelineBin& level, double factor) {
  to.busy_gpus += level.busy_gpus * factor;
  to.stranded_gpus += level.stranded_gpus * factor;
  to.queued_jobs += level.queued_jobs * factor;
  to.queued_gpus += level.queued_gpus * factor;
  to.running_jobs += level.running_jobs * factor;
  to.used_gpus += level.used_gpus * factor;
}

std::int64_t peak_of(const std::vector<TimelineRecorder>& recorders) {
  struct Change {
    SimTime at;
    std::int32_t by;
  };
  std::vector<Change> changes;
  for (const TimelineRecorder& recorder : recorders) {
    std::int32_t before = 0;
    for (const auto& step : recorder.queue_steps()) {
      changes.push_back({step.at, step.length - before});
      before = step.length;
    }
  }
  std::ranges::stable_sort(changes, {}, &Change::at);
  std::int64_t length = 0;
  std::int64_t peak = 0;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    length += changes[i].by;
    const bool instant_over = i + 1 == changes.size() || changes[i + 1].at != changes[i].at;
    if (instant_over) peak = std::max(peak, length);
  }
  return peak;
}

}  // namespace

TimelineRecorder::TimelineRecorder(SimTime first, SimTime last)
    : first_(first), last_submit_(last), now_(first) {}

void TimelineRecorder::advance(const TimelineBin& level, SimTime now) {
  const Seconds inside = std::min(now, last_submit_) - now_;
  if (inside > Seconds(0)) add(window_, level, static_cast<double>(inside.count()));
  while (now_ < now) {
    auto bin = static_cast<std::size_t>((now_ - first_) / step_);
    while (bin >= most_bins) {
      widen();
      bin = static_cast<std::size_t>((now_ - first_) / step_);
    }
    if (bin >= integrals_.size()) integrals_.resize(bin + 1);
    const SimTime end = std::min(now, first_ + step_ * static_cast<std::int64_t>(bin + 1));
    add(integrals_[bin], level, static_cast<double>((end - now_).count()));
    now_ = end;
  }
}

void TimelineRecorder::queue_length(SimTime now, std::int32_t length) {
  if (!queue_steps_.empty() && queue_steps_.back().at == now) {
    queue_steps_.back().length = length;
  } else if (queue_steps_.empty() ? length != 0 : queue_steps_.back().length != length) {
    queue_steps_.push_back({now, length});
  }
}

void TimelineRecorder::widen() {
  step_ *= 2;
  for (std::size_t i = 0; i < integrals_.size(); ++i) {
    if (i % 2 == 0) {
      integrals_[i / 2] = integrals_[i];
    } else {
      add(integrals_[i / 2], integrals_[i], 1);
    }
  }
  integrals_.resize((integrals_.size() + 1) / 2);
}

Timeline TimelineRecorder::merge(std::vector<TimelineRecorder>& recorders) {
  Timeline timeline;
  if (recorders.empty()) return timeline;
  const Seconds step = std::ranges::max_element(recorders, {}, &TimelineRecorder::step_)->step_;
  timeline.first = recorders.front().first_;
  timeline.step = step;
  const Seconds window = recorders.front().last_submit_ - recorders.front().first_;
  for (TimelineRecorder& recorder : recorders) {
    if (window > Seconds(0)) {
      add(timeline.submitting, recorder.window_, 1 / static_cast<double>(window.count()));
    }
    while (recorder.step_ < step) recorder.widen();
    timeline.bins.resize(std::max(timeline.bins.size(), recorder.integrals_.size()));
    for (std::size_t i = 0; i < recorder.integrals_.size(); ++i) {
      add(timeline.bins[i], recorder.integrals_[i], 1 / static_cast<double>(step.count()));
    }
  }
  timeline.peak_queue = peak_of(recorders);
  return timeline;
}

}  // namespace schedmate::sim
