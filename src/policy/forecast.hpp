// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Lucid's sharing switch: off while fewer than about `quiet` jobs are expected per ten minutes.

#include <memory>
#include <schedmate/forecast.hpp>
#include <schedmate/time.hpp>

namespace schedmate::policy {

/// Rows from the first submission to a week after the last; NaN where nothing is known yet.
[[nodiscard]] ForecastTable forecast_from_past(const Trace& trace);

class SharingSwitch {
 public:
  /// Without a forecast it is on.
  SharingSwitch(std::shared_ptr<const Forecast> forecast, double quiet, Seconds interval);
  /// The switch as set at the last multiple of the interval.
  [[nodiscard]] bool on(SimTime now) const;
  /// When it next changes, as far as that is known, or is to be asked again; or `never`.
  [[nodiscard]] SimTime next_change(SimTime now);

 private:
  [[nodiscard]] SimTime set_at(SimTime now) const;
  [[nodiscard]] bool is_on(SimTime set) const;

  std::shared_ptr<const Forecast> forecast_;
  double quiet_;
  Seconds interval_;
  SimTime asked_ = never, change_ = SimTime::min();  // holds in between
};

}  // namespace schedmate::policy
