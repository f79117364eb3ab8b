// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Lengths of completed runs, from runs of which not all completed.

#include <cstdint>
#include <functional>
#include <schedmate/job.hpp>
#include <vector>

namespace schedmate::advisor {

/// What an end says about the length that the run would have had.
enum class RunEnd : std::uint8_t {
  completed,  ///< it is the length
  own_end,    ///< failed, out of memory, cancelled: the run would not have completed at all
  stopped,    ///< by its limit, a node, another job: the length is longer
};
[[nodiscard]] RunEnd run_end(EndState state);

struct EndedRun {
  double value = 0;
  double weight = 1;  ///< >= 0
  RunEnd end = RunEnd::completed;
};

/// The Aalen-Johansen estimate for weighted runs: completing and ending by itself compete, being
/// stopped is a right-censored observation. Without own ends it is one minus the Kaplan-Meier
/// estimate, without stopped runs the plain weighted distribution. Weight that stays open (runs
/// stopped after the last other end) counts as completed at the last value of all (Efron).
class CompletionCurve {
 public:
  explicit CompletionCurve(std::vector<EndedRun> runs);

  /// Of the weight; together 1, or all 0 without weight.
  [[nodiscard]] double completed() const;
  [[nodiscard]] double ended_early() const { return early_; }
  [[nodiscard]] double open() const { return open_; }

  /// Whether some of the weight is completed or open. Not so where all that was not stopped ended
  /// by itself, the last run included: those that were stopped before would have, too.
  [[nodiscard]] bool has_lengths() const;
  /// Of completed lengths. The curve must have some.
  [[nodiscard]] double quantile(double share) const;
  /// The quantile lies in the open part: all that is known is that it is at least quantile().
  [[nodiscard]] bool is_open_at(double share) const;
  /// The share of completed lengths at or below; the open part is above.
  [[nodiscard]] double at_most(double value) const;
  /// Of what `figure` makes of them.
  [[nodiscard]] double mean(const std::function<double(double)>& figure) const;

 private:
  struct Step {
    double value = 0;
    double below = 0;  ///< weight of the lengths up to it
  };
  [[nodiscard]] double lengths() const { return completed() + open_; }

  std::vector<Step> steps_;
  double early_ = 0;
  double open_ = 0;
  double last_ = 0;
};

}  // namespace schedmate::advisor
