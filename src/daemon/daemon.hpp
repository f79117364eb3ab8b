// SPDX-License-Identifier: Apache-2.0
#pragma once

/// schedmated: the live loop with its journal, its cluster and its front door. Threads: one of the
/// loop; three that ask the cluster, of which one makes calls, one reads scripts of jobs and one
/// how their steps ended; one each that writes the journal, sends notices, keeps on the disk what
/// was measured of jobs, and makes forecasts; two that read journal and history for answers; two
/// that advise from the history, of which one gives it the ends of jobs, too; and five of the front
/// door, which only queue requests for the loop: one accepts, two read and write, one has the
/// streams, one finds names of users. Where settings name them one asks schedmate-reader, one the
/// workers, and eight the models.

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
