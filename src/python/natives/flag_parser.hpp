// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Command words against declared flags, the way argparse matches them: abbreviations, `--x=5`,
/// `-x5`, `-abc`, `--`, negative numbers, positionals shared out greedily. Other libraries use the
/// same matcher with other names. Pure: what the matched words mean is decided by the caller.

#include <span>

#include "command/command.hpp"
#include "python/objects/native.hpp"

namespace schedmate::python::natives {

struct FlagSpec {
  std::vector<std::string> names;      ///< "--lr", "-l"; empty for a positional
  std::vector<std::string> negations;  ///< "--no-amp"; never take a value
  std::string dest;
  int least = 1;  ///< values that one use takes
  int most = 1;
  bool attached_only = false;  ///< a value only as `--x=1`, never the next word (absl's booleans)
  bool rest = false;           ///< takes all that follows, options too (REMAINDER, subcommands)
  bool required = false;
};

inline constexpr int any_number = 1 << 20;
/// argparse's nargs ("", "?", "*", "+", "3", "...", "A...") as least, most and rest.
void set_nargs(FlagSpec& spec, std::string_view nargs);

struct FlagSyntax {
  std::string prefix = "-";
  bool abbreviations = true;
  bool bundles = true;     ///< `-abc` and `-x5`
  bool free_order = true;  ///< false: the first positional ends the options (subcommands of click)
};

struct FlagUse {
  std::size_t spec = 0;
  std::vector<command::Word> values;
  std::string name;  ///< as matched: "--learning-rate"
  bool negated = false;
  PlacePtr place;  ///< of the option's word, or of the first positional
};

struct FlagError {
  std::string message;
  PlacePtr place;
};

struct FlagMatch {
  std::vector<FlagUse> uses;            ///< in order of the command
  std::vector<command::Word> leftover;  ///< what nothing took
  std::vector<FlagError> errors;
  /// False when a word that is not known could have been flags ($EXTRA): what is missing or left
  /// over then proves nothing.
  bool certain = true;
};

[[nodiscard]] FlagMatch match_flags(std::span<const FlagSpec> specs,
                                    std::span<const command::Word> words,
                                    const FlagSyntax& syntax = {});

}  // namespace schedmate::python::natives
