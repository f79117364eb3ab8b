// SPDX-License-Identifier: Apache-2.0
#pragma once

/// schedmated: the live loop with its journal, its cluster and its front door. The loop has one
/// thread; one calls the cluster, one writes the journal, one keeps what was measured of jobs, one
/// makes forecasts, two read journal and history for answers, one asks schedmate-reader, two the
/// history, eight ask models where settings name any; those of the front door only queue requests
/// for the loop.

#include <functional>
#include <schedmate/clock.hpp>
#include <schedmate/result.hpp>
#include <string>

#include "daemon/configuration.hpp"

namespace schedmate::daemon {

struct Surroundings {
  Clock clock;
  std::function<bool()> stopped;  ///< asked ten times a second
  /// Whether the settings are to be read again; and how that is done.
  std::function<bool()> reload_asked;
  std::function<Result<Configuration>()> reload;
  std::function<void(const std::string& line)> report;  ///< a line for the log
  std::function<void()> ready;                          ///< it answers
  std::function<std::string(unsigned uid)> user_name;
};

/// Until it is stopped. Errors: refused (another daemon writes this journal), conflict (an address
/// is taken), unavailable.
Result<void> run(const Configuration& configuration, const Surroundings& surroundings);

}  // namespace schedmate::daemon
