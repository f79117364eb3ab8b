// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The program schedmate-reader. It takes few flags and is begun anew for each request, so it reads
/// them by itself.

#include <cstdint>
#include <functional>
#include <schedmate/result.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "settings/settings_file.hpp"

namespace schedmate::reader {

struct CommandLine {
  enum class Task : std::uint8_t { serve, work, help };
  Task task = Task::serve;
  std::string socket{};  ///< "": that of the setting; systemd's own goes before both
  settings::SettingsSources sources{};
};
/// Without the program's name. Errors: unsupported (with the nearest flag).
[[nodiscard]] Result<CommandLine> read_command_line(std::span<const char* const> words);

using Say = std::function<void(const std::string& text)>;
/// Until SIGTERM or SIGINT; `print` takes what was asked for, `say` lines for standard error. Gives
/// the exit code.
int run_program(std::span<const char* const> words, const char* const* environment,
                const Say& print, const Say& say);

}  // namespace schedmate::reader
