// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What a shell remembers. Copied for subshells and for branches that could not be decided.

#include "command/shell_text.hpp"

namespace schedmate::command {

struct Variable {
  std::vector<Text> items;        ///< one for a plain variable
  std::vector<std::string> keys;  ///< side by side with items when associative
  bool array = false;
  bool associative = false;
  bool exported = false;
};
using Variables = std::map<std::string, Variable, std::less<>>;

/// Did the last command succeed?
enum class Truth : std::uint8_t { no, yes, unknown };
enum class Flow : std::uint8_t { on, stop_loop, next_round, leave_function, leave };

struct State {
  Variables variables;
  std::vector<Text> positional;
  bool positional_known = true;
  std::string script;  ///< $0
  std::string cwd;
  Truth status = Truth::yes;
  Flow flow = Flow::on;
  int flow_levels = 0;  ///< of `break 2`
  bool certain = true;
  int runs = 1;
  std::vector<Word> prefix;  ///< launchers around the wrapper: srun bash train.sh
  RequestPtr request;        ///< of the submission around all this
};

/// Names that the surroundings set, so that "unset" cannot be taken for granted.
[[nodiscard]] bool is_surrounding(std::string_view name);

/// Variables that differ become unknown; a side that left the script does not count.
[[nodiscard]] State merged(const State& before, State then, State otherwise);

/// Index of an array's item by its written subscript; nothing when there is none.
[[nodiscard]] std::optional<std::size_t> item_index(const Variable& of, std::string_view subscript);

}  // namespace schedmate::command
