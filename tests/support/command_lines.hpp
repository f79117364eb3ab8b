// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What a command would start, on one line each: words with blanks between them, '?' before those
/// that are not known, "(maybe)" in undecided branches, "xN" where it runs N times.

#include <doctest/doctest.h>

#include <span>
#include <string>

#include "command/command.hpp"
#include "tests/support/small_tree.hpp"

namespace schedmate::testing {

inline std::string shown(const command::Invocation& invocation) {
  std::string line;
  for (const auto& word : invocation.argv) {
    if (!line.empty()) line += ' ';
    if (!word.known) line += '?';
    const bool quoted = word.text.empty() || word.text.find(' ') != std::string::npos;
    line += quoted ? "'" + word.text + "'" : word.text;
  }
  if (!invocation.certain) line += " (maybe)";
  if (invocation.runs != 1) line += " x" + std::to_string(invocation.runs);
  return line;
}

inline command::Commands commands_of(tree::Tree& tree, const command::CommandSource& source) {
  auto made = command::read_command(tree, source);
  return made ? *std::move(made) : command::Commands{};
}

/// All that it starts, with " | " between.
inline std::string started(tree::Tree& tree, const std::string& command, int gpus = 0,
                           int nodes = 0) {
  std::string all;
  const command::CommandSource source{command, ".", gpus, nodes};
  for (const auto& invocation : commands_of(tree, source).invocations)
    all += (all.empty() ? "" : " | ") + shown(invocation);
  return all;
}

/// As started(), for a script "run.sh".
inline std::string started_by(const std::string& script, const std::string& command = "sh run.sh") {
  SmallTree tree({{"run.sh", script}, {"train.py", ""}, {"configs/a.yaml", "lr: 1\n"}});
  return started(*tree, command, 4);
}

struct StartedRow {
  const char* script;
  const char* started;
};

inline void check_started(std::span<const StartedRow> rows, const char* command = "sh run.sh") {
  for (const auto& row : rows) {
    CAPTURE(row.script);
    CHECK(started_by(row.script, command) == row.started);
  }
}

}  // namespace schedmate::testing
