// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What still has to be sent, within bounds however long nobody takes it, and when to try again.

#include <chrono>
#include <cstdint>
#include <deque>

#include "base/random.hpp"
#include "probe/report.hpp"

namespace schedmate::probe {

class Outbox {
 public:
  /// Samples of single GPUs that are kept: an hour of 8 GPUs at 10 s is 2,880.
  static constexpr std::size_t most_gpu_samples = 4096;
  static constexpr std::size_t most_kept_events = 256;

  /// When there is no room, the oldest sample goes.
  void add(Sample sample);
  /// When there is no room, the least severe goes, of those the oldest.
  void add(KernelEvent event);

  [[nodiscard]] bool empty() const { return samples_.empty() && events_.empty(); }
  /// The oldest of both, not more than one message takes. It stays here until sent().
  [[nodiscard]] Report next() const;
  void sent(const Report& report);

  [[nodiscard]] std::uint64_t dropped_samples() const { return dropped_samples_; }
  [[nodiscard]] std::uint64_t dropped_events() const { return dropped_events_; }

 private:
  std::deque<Sample> samples_;
  std::deque<KernelEvent> events_;
  std::size_t gpu_samples_ = 0;
  std::uint64_t dropped_samples_ = 0, dropped_events_ = 0;
};

/// How long to wait after each failure: twice as long as before, from 1 s to 64 s, of which a
/// random half or more, so that 10,000 probes do not come back at once.
class Backoff {
 public:
  explicit Backoff(std::uint64_t seed) : random_(seed) {}
  [[nodiscard]] std::chrono::milliseconds failed();
  void succeeded() { failures_ = 0; }

 private:
  Random random_;
  unsigned failures_ = 0;
};

}  // namespace schedmate::probe
