// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The program schedmated, but for its command line.

#include <functional>
#include <schedmate/result.hpp>
#include <string>
#include <vector>

#include "settings/settings_file.hpp"

namespace schedmate::daemon {

enum class Task : std::uint8_t {
  serve,   ///< be the daemon
  check,   ///< read the settings
  replay,  ///< be the cluster of cluster.replay
};

/// A line for the log, on standard error.
using Say = std::function<void(const std::string& line)>;

struct Program {
  settings::SettingsSources sources{};
  settings::Environment environment{};
  std::function<bool()> stopped{}, reload_asked{};  ///< asked ten times a second
  Say say{};
  std::vector<std::string> pairs{};  ///< KEY=VALUE, over what `sources` say
  std::string ui_folder{};           ///< the page's files, read for each request; "": built in
};

/// Until it is stopped. Errors: those of load_settings(), configure(), run() and serve().
Result<void> run_task(Task task, const Program& program);

}  // namespace schedmate::daemon
