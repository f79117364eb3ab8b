// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The rhythm of a trace's submissions: how they spread over the day and the week.

#include <schedmate/job.hpp>
#include <vector>

#include "base/random.hpp"

namespace schedmate::synth {

class Arrivals {
 public:
  /// From a trace with at least one job.
  explicit Arrivals(const Trace& trace);

  /// `count` submissions, sorted, from the trace's first midnight on and within `span`. Each day
  /// of the span follows a day of the trace with the same weekday (any day, when the trace is
  /// shorter than a week), drawn again; within the day times lie between two real submissions. A
  /// span below a day has the trace's first hours only.
  [[nodiscard]] std::vector<SimTime> draw(std::size_t count, Seconds span, Random random) const;

 private:
  /// The day of the trace that stands for day `index` of the span.
  [[nodiscard]] const std::vector<Seconds>& like(std::int64_t index, Random& random) const;

  SimTime midnight_;                        // before the first submission
  std::vector<std::vector<Seconds>> days_;  // seconds since midnight, sorted
};

}  // namespace schedmate::synth
