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

/// By its name: of a shell or a scheduler; of Python, too.
[[nodiscard]] bool is_shell_script(std::string_view word);
[[nodiscard]] bool is_script(std::string_view word);

/// Never fails: an open quote ends with the command. `./train.sh`, `sbatch --gres=gpu:4 train.sh`
/// and, where the command was given in `folder`, `bash /FOLDER/train.sh` are one: of a submission
/// the options of sbatch are left out (what they request is compared as such), of --wrap its text
/// is the command.
[[nodiscard]] CommandFlags read_command_flags(std::string_view command, const FlagRules& rules,
                                              std::string_view folder = {});

/// What a submission starts, for people: of `sbatch OPTIONS train.sh --lr 1` the script with its
/// arguments, of --wrap its text; other commands as they are.
[[nodiscard]] std::string without_submission(std::string_view command);

/// The directory that a command is given in.
[[nodiscard]] std::string folder_of(std::string_view root, std::string_view workdir);

/// The command without what changes neither work nor time, in one spelling: a key for facts.
[[nodiscard]] std::string normal_command(std::string_view command, const FlagRules& rules);

}  // namespace schedmate::advisor
