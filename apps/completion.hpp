// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Shell completions out of a description of the command line. schedmate.cpp takes the description
/// from the parser itself, so that a new flag completes without being named twice.

#include <cstdint>
#include <schedmate/result.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace schedmate {

/// What may follow a flag.
enum class Values : std::uint8_t { none, text, path, choices, trace };

struct FlagDescription {
  std::string name;  ///< "--policy"; "" = the command's own argument
  std::string help;
  Values values = Values::none;
  std::vector<std::string> choices;  ///< of choices; of trace: the formats
};
struct CommandDescription {
  std::string name;
  std::string help;
  std::vector<FlagDescription> flags;
};

/// A script for bash, zsh or fish. Errors: not_found for another shell.
[[nodiscard]] Result<std::string> completion(std::string_view shell,
                                             const std::vector<CommandDescription>& commands);

}  // namespace schedmate
