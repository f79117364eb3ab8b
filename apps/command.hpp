// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What a command of the program is: flags that fill its request, and what it does with them. Rows:
/// apps/commands.def.

#include <functional>
#include <schedmate/result.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apps/console.hpp"
#include "settings/session.hpp"
#include "settings/settings_file.hpp"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's
class App;
}

namespace schedmate {

/// What the flags of all commands say.
struct CommonFlags {
  bool json = false;
  std::vector<std::string> pairs;  ///< "key=value" of --set
  settings::SettingsSources sources;
};

/// The parser of one command, for the time of its making.
struct Parser {
  CLI::App& app;
  CommonFlags& common;
};

/// What a command gets when it runs.
struct CommandCall {
  const settings::Session& session;
  Console& console;   ///< where it prints
  bool json = false;  ///< a program reads the answer
};

struct Command {
  std::function<Result<int>(const CommandCall& call)>
      run;  ///< gives the exit code: 0, or 1 for "no"
  /// Whether all is there that it cannot do without; asked before the settings are read.
  std::function<Result<void>()> check = [] { return Result<void>(); };
  /// Called before --help is printed: a command with actions shows that of the one it was given.
  std::function<void()> narrow_help = [] {};
};

struct CommandRow {
  std::string_view name;
  std::string_view summary;
  Command (*make)(const Parser& parser);
  bool uses_state;  ///< it reads or writes the state folder; others may for a model only
};
[[nodiscard]] std::span<const CommandRow> command_rows();

/// The exit code of an error, whose line is on standard error. A program that asked for JSON gets
/// it as a document, too.
int complain(const Error& error, bool json, Console& console);

// For the makers of commands.

/// A flag that gives a setting of that key.
void add_setting(const Parser& parser, const std::string& flag, const std::string& key,
                 const std::string& help);
/// --strict, --seed, --threads, --llm.
void add_strict(const Parser& parser, const std::string& help);
void add_seed(const Parser& parser, const std::string& help);
void add_threads(const Parser& parser, const std::string& help);
void add_model(const Parser& parser);

/// "COMMAND: WHAT is missing" unless it was given. Errors: unsupported.
[[nodiscard]] Result<void> need(bool given, std::string_view command, std::string_view what);

/// Exit code 0 of what ends without a value.
[[nodiscard]] inline Result<int> done(const Result<void>& result) {
  return result.map([] { return 0; });
}

}  // namespace schedmate
