// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Load over time with bounded memory: time integrals in bins that double in width whenever the run
/// outgrows them.

#include <cstdint>
#include <schedmate/sim.hpp>
#include <vector>

namespace schedmate::sim {

class TimelineRecorder {
 public:
  /// The clock starts at `first`; `last` is the end of the window of Timeline::submitting.
  TimelineRecorder(SimTime first, SimTime last);
  /// The state was `level` from the end of the last call until `now`.
  void advance(const TimelineBin& level, SimTime now);
  /// Number of queued jobs from `now` on.
  void queue_length(SimTime now, std::int32_t length);

  struct QueueStep {
    SimTime at;
    std::int32_t length;
  };
  [[nodiscard]] const std::vector<QueueStep>& queue_steps() const { return queue_steps_; }

  /// Sums the recorders of all VCs (all made with the same `first`), bins as means over their
  /// width.
  static Timeline merge(std::vector<TimelineRecorder>& recorders);

 private:
  void widen();
  SimTime first_, last_submit_, now_;
  TimelineBin window_;  // level x seconds up to the last submission
  Seconds step_{60};
  std::vector<TimelineBin> integrals_;  // level x seconds
  std::vector<QueueStep> queue_steps_;
};

}  // namespace schedmate::sim
