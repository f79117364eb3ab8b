// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What the model says in one turn: a thought with a tool to use, or the answer. The schema binds
/// it where the server can; this reader trusts nothing either way.

#include <optional>

#include "agent/agent.hpp"

namespace schedmate::agent {

enum class Tool : std::uint8_t { file_tree, file_read, search };

struct ToolCall {
  Tool tool = Tool::file_tree;
  std::string path;
  int from = 0;  ///< first line, 0 = from the start
  int to = 0;    ///< last line, 0 = to the end
  std::string query;
  bool operator==(const ToolCall&) const = default;
};

struct Turn {
  std::string thought;
  std::optional<ToolCall> action;
  std::optional<std::vector<Claim>> answer;
  std::vector<DroppedClaim> unreadable;  ///< parts of the answer that are no claims
};

/// What a turn may hold: a tool or the answer; the answer; the answer without anything in which a
/// weak model loses itself.
enum class Wanted : std::uint8_t { turn, answer, bare_answer };
[[nodiscard]] std::string turn_schema(std::span<const std::string> gaps, Wanted wanted);

/// Errors: bad_reply (no JSON object, too deep, a key twice, neither action nor answer, an unknown
/// tool). Prose and a code fence around the object are stepped over.
[[nodiscard]] Result<Turn> read_turn(std::string_view text);

}  // namespace schedmate::agent
