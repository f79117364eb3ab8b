// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What this daemon's forecasts told first of each job, and what came of it. The next forecasts are
/// corrected by that (docs/eta.md, calibration). One thread at a time.

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <schedmate/connector.hpp>
#include <schedmate/eta.hpp>
#include <schedmate/eta_calibration.hpp>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace schedmate::daemon {

class Hindsight {
 public:
  /// Of what has happened, and of what has not yet, of each kind.
  static constexpr std::size_t most = 300;

  /// A job that has ended.
  void ended(const SeenJob& job);
  /// A forecast as it was made, before it is corrected. Jobs that the snapshot does not have any
  /// more are forgotten.
  void note(const QueueSnapshot& snapshot, const QueueForecast& forecast);
  /// Of all that is known at `now`.
  [[nodiscard]] EtaCalibration calibration(SimTime now) const;

 private:
  struct Told {
    SimTime when;
    PastForecast forecast;
  };
  struct Waited {
    SimTime submitted;
    std::uint64_t round = 0;  ///< in which it was seen last
    std::array<std::optional<Told>, forecast_kinds> told{};
  };
  using Jobs = std::unordered_map<std::string, Waited>;
  Jobs::iterator follow(std::string_view id, std::size_t queue);
  void happened(std::optional<Told>& told, SimTime then);

  Jobs jobs_;
  std::array<std::deque<PastForecast>, forecast_kinds> past_;
  std::uint64_t round_ = 0;
};

}  // namespace schedmate::daemon
