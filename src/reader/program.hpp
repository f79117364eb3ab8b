// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The program schedmate-reader, but for its command line.

#include <functional>
#include <schedmate/result.hpp>
#include <string>

#include "settings/settings_file.hpp"

namespace schedmate::reader {

struct Program {
  settings::SettingsSources sources{};
  settings::Environment environment{};
  std::string socket{};             ///< "": that of the setting; systemd's own goes before both
  std::function<bool()> stopped{};  ///< asked at least twice a second
  std::function<void(const std::string& line)> say{};
};

/// Until it is stopped. Errors: those of load_settings(), open_door() and serve().
Result<void> run_reader(const Program& program);

/// What `schedmate-reader --work` does in a child of it. Gives the exit code.
int run_work(const settings::Environment& environment);

}  // namespace schedmate::reader
