// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The program schedmated, but for its command line.

#include <functional>
#include <schedmate/result.hpp>
#include <string>

#include "settings/session.hpp"

namespace schedmate::daemon {

enum class Task : std::uint8_t {
  serve,   ///< be the daemon
  check,   ///< read the settings
  replay,  ///< be the cluster of cluster.replay
};

struct Program {
  const settings::Session& session;
  std::function<Result<settings::Settings>()> read_settings;  ///< again
  std::function<bool()> stopped, reload_asked;                ///< asked ten times a second
  std::function<void(const std::string& line)> say;           ///< on standard error
};

/// Until it is stopped. Errors: those of configure(), run() and serve().
Result<void> run_task(Task task, const Program& program);

}  // namespace schedmate::daemon
