// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What the process finds around it. main() hands the environment in, so nothing else reads it.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace schedmate::settings {

struct Environment {
  std::string config_home;  ///< $XDG_CONFIG_HOME, else ~/.config; "" when neither is known
  std::string state_home;   ///< $XDG_STATE_HOME, else ~/.local/state
  std::string host;         ///< name of this machine
  bool colour = false;      ///< standard output is a terminal and NO_COLOR is not set
  bool progress = false;    ///< standard error is a terminal
  /// How wide what is printed may be: as the terminal on standard output, else as COLUMNS says;
  /// 0: neither, and nothing is cut or left out.
  std::size_t columns = 0;
  /// An instant since 1970 in this machine's zone, for people: "2026-11-25 04:33 CET".
  std::function<std::string(std::int64_t unix_s)> date;
  /// Of a name, for secrets that the settings name; "" = not set.
  std::function<std::string(std::string_view)> variable;
};

/// `variables` as main() gets them: "NAME=value", the last one null. They outlive the value.
[[nodiscard]] Environment read_environment(const char* const* variables);

}  // namespace schedmate::settings
