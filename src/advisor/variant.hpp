// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What the submission's own words say of the work beyond the facts: jobs of one repository differ
/// by the name of a config, a word of the script, a flag for a size, and often in no fact at all.

#include <functional>
#include <schedmate/facts.hpp>
#include <string>
#include <string_view>

#include "advisor/command_flags.hpp"
#include "advisor/fields.hpp"

namespace schedmate::advisor {

/// Stage and method of training as script, config and switches name them: "finetuning lora";
/// "training" when they name none.
[[nodiscard]] std::string method_of(const CommandFlags& given, const FlagRules& rules);

/// What tells one variant of a program from another, as slots: "=hidden-dim:64 config:coco-w-32
/// dataset/data-path:imagenet entry:train". A slot is named after its flag, and before it the fact
/// that says the same better, if there is one; a '=' begins that of a number. What scales a run
/// (epochs, batch, devices) is left out.
[[nodiscard]] std::string variant_of(const CommandFlags& given, const FlagRules& rules,
                                     const Fields& fields);

/// 1: the same words. 0: another variant. Between: one of the two says more.
/// `decided`: is this fact known of both jobs? Then its slots do not count.
[[nodiscard]] double variant_agreement(std::string_view ours, std::string_view theirs,
                                       const std::function<bool(std::string_view)>& decided);

/// The slots in which they differ, for people.
struct VariantDifference {
  std::string ours, theirs;
};
[[nodiscard]] VariantDifference differing_slots(std::string_view ours, std::string_view theirs);

/// The files of the program, as a few short hashes of their names; "" when none was read.
[[nodiscard]] std::string program_of(const Facts& facts);

/// Share of files in common, 0 to 1.
[[nodiscard]] double program_agreement(std::string_view ours, std::string_view theirs);

}  // namespace schedmate::advisor
