// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What Lucid expects to be submitted soon (lucid.md 5.1, 5.2). The table is either the trace's own
/// or made from the trace's past: a row is the mean of the same ten minutes on earlier days (on the
/// first day of an earlier hour), so at any instant only arrivals before it are looked at.

#include <memory>
#include <schedmate/job.hpp>
#include <schedmate/time.hpp>

namespace schedmate {

/// Rows from the first submission to a week after the last; NaN where nothing is known yet.
[[nodiscard]] ForecastTable forecast_from_past(const Trace& trace);

/// Mean of column `values` over the next five rows after `now` (fewer near the end of the table);
/// NaN when there are none left or one is unknown.
[[nodiscard]] double mean_of_next(const ForecastTable& table, const std::vector<double>& values,
                                  SimTime now);

/// Lucid's sharing switch: off while fewer than about `quiet` jobs are expected per row.
class SharingSwitch {
 public:
  SharingSwitch(std::shared_ptr<const ForecastTable> table, double quiet, Seconds interval);
  /// The switch as set at the last multiple of the interval.
  [[nodiscard]] bool on(SimTime now) const;
  /// When it next changes, or `never`.
  [[nodiscard]] SimTime next_change(SimTime now) const;

 private:
  [[nodiscard]] std::size_t row_after(SimTime now) const;
  std::shared_ptr<const ForecastTable> table_;
  Seconds interval_;
  std::vector<bool> on_;  // by index of the first row after the instant; one past the end = on
};

}  // namespace schedmate
