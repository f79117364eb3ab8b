// SPDX-License-Identifier: Apache-2.0
#include "probe/outbox.hpp"

#include <algorithm>
#include <utility>

namespace schedmate::probe {
namespace {

/// A node without GPUs has samples, too.
std::size_t weight_of(const Sample& sample) { return std::max<std::size_t>(sample.gpus.size(), 1); }

}  // namespace

void Outbox::add(Sample sample) {
  gpu_samples_ += weight_of(sample);
  samples_.push_back(std::move(sample));
  while (gpu_samples_ > most_gpu_samples) {
    gpu_samples_ -= weight_of(samples_.front());
    samples_.pop_front();
    ++dropped_samples_;
  }
}

void Outbox::add(KernelEvent event) {
  events_.push_back(std::move(event));
  if (events_.size() <= most_kept_events) return;
  events_.erase(std::ranges::min_element(events_, {}, &KernelEvent::severity));  // the first such
  ++dropped_events_;
}

Report Outbox::next() const {
  constexpr std::size_t most_at_once = 512;  // samples of single GPUs: some 150 KB
  Report report;
  std::size_t taken = 0;
  for (const Sample& sample : samples_) {
    taken += weight_of(sample);
    if (!report.samples.empty() && taken > most_at_once) break;
    report.samples.push_back(sample);
  }
  report.events.assign(events_.begin(), events_.end());
  report.dropped_samples = dropped_samples_;
  report.dropped_events = dropped_events_;
  return report;
}

void Outbox::sent(const Report& report) {
  for (std::size_t i = 0; i < report.samples.size() && !samples_.empty(); ++i) {
    gpu_samples_ -= weight_of(samples_.front());
    samples_.pop_front();
  }
  for (std::size_t i = 0; i < report.events.size() && !events_.empty(); ++i) events_.pop_front();
}

std::chrono::milliseconds Backoff::failed() {
  constexpr unsigned most_doublings = 6;
  const double longest_ms = 1000.0 * static_cast<double>(1U << std::min(failures_, most_doublings));
  failures_ = std::min(failures_ + 1, most_doublings);
  return std::chrono::milliseconds(
      static_cast<std::int64_t>(longest_ms * (0.5 + 0.5 * random_.uniform())));
}

}  // namespace schedmate::probe
