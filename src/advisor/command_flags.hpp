// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A command as flags and words, for comparing two submissions. It reads no file and expands
/// nothing: what a wrapper does is the business of the facts.

#include <string>
#include <string_view>
#include <vector>

#include "advisor/flag_rules.hpp"

namespace schedmate::advisor {

struct GivenFlag {
  std::string name;   ///< as typed, without leading dashes or '+'
  std::string value;  ///< "" for a switch; several values are joined by a space
  bool operator==(const GivenFlag&) const = default;
};

struct CommandFlags {
  std::vector<GivenFlag> flags;    ///< in order of name
  std::vector<std::string> words;  ///< neither flags nor launchers, in order
  std::string entry;               ///< the script or module that is started (JobRecord::entry)
};

/// Never fails: an open quote ends with the command.
[[nodiscard]] CommandFlags read_command_flags(std::string_view command, const FlagRules& rules);

/// The command without what changes neither work nor time, in one spelling: a key for facts.
[[nodiscard]] std::string normal_command(std::string_view command, const FlagRules& rules);

}  // namespace schedmate::advisor
