// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Run times as a forecast of the queue draws them (eta.hpp). Values; threads may share them.

#include <array>
#include <cstddef>
#include <limits>
#include <memory>
#include <optional>

namespace schedmate {

/// How long a run lasts: the chance to end in each of many bins, of the runs that get there. The
/// bins are equally wide in log(1 + run time / 60 s), the last ends after 113 days.
class RunTimeCurve {
 public:
  static constexpr std::size_t bins = 240;
  static constexpr double width = 0.05;
  /// To end within each bin, of the runs that reach it.
  using Chances = std::array<float, bins>;
  explicit RunTimeCurve(const Chances& chances);

  /// The run time at `share` (0 to 1) of those that ran `ran` seconds already and run no longer
  /// than `most`; where hardly any is left, anything before `most`.
  [[nodiscard]] double draw(double share, double ran,
                            double most = std::numeric_limits<double>::infinity()) const;
  /// Which share runs longer than `seconds`, of those that ran `ran` seconds already.
  [[nodiscard]] double share_beyond(double seconds, double ran) const;
  /// In bins.
  [[nodiscard]] static double place_of(double seconds);

 private:
  [[nodiscard]] double hazard_until(double seconds) const;
  std::array<float, bins + 1> cumulative_{};
};

/// What is known of a job's run time: all, its distribution, or nothing.
struct RunTimeBelief {
  std::shared_ptr<const RunTimeCurve> curve{};
  std::optional<double> known_s{};
  /// The curve is of what comes after so many seconds of the run.
  double after_s = 0;

  /// As RunTimeCurve::draw. Of what nobody knows anything it lasts by Pareto's law, as long again
  /// at the median.
  [[nodiscard]] double draw(double share, double ran,
                            double most = std::numeric_limits<double>::infinity()) const;
};

}  // namespace schedmate
