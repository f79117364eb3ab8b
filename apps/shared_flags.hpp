// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Flags that several commands share, and the commands that read logs.

#include <string>

#include "apps/command_line.hpp"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's
class App;
}

namespace schedmate {

/// The flags of all commands.
void add_common(CLI::App& app, CommandLine& line);
/// A command with the flags of all commands.
CLI::App& add_command(CLI::App& program, CommandLine& line, const std::string& name,
                      const std::string& help);
void add_model(CLI::App& command, CommandLine& line);

/// track, ask, diagnose.
void add_log_commands(CLI::App& program, CommandLine& line);

}  // namespace schedmate
