// SPDX-License-Identifier: Apache-2.0
#pragma once

/// How what was first expected of jobs turned out, so that an operator sees when forecasts are off:
/// of 10 jobs 8 should start within their first interval.

#include <cstdint>
#include <string>
#include <unordered_map>

#include "daemon/forecasts.hpp"

namespace schedmate::daemon {

class FirstForecasts {
 public:
  struct Counts {
    std::uint64_t before = 0, inside = 0, after = 0;  ///< of the interval from p10 to p90
  };
  /// Keeps the first interval of each job that waits; jobs that it does not name are forgotten.
  void note(const Forecast& forecast);
  /// Is counted if anything was expected of it.
  void started(const SeenJob& job);
  [[nodiscard]] const Counts& counts() const { return counts_; }

 private:
  std::unordered_map<std::string, InstantQuantiles> first_;  // by id
  Counts counts_;
};

}  // namespace schedmate::daemon
