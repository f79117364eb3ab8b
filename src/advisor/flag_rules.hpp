// SPDX-License-Identifier: Apache-2.0
#pragma once

/// rules/flags.toml: what a changed flag says of a resubmission (docs/formats/rules.md).

#include <cstdint>
#include <map>
#include <schedmate/result.hpp>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace schedmate::advisor {

/// From the least to the greatest difference.
enum class FlagClass : std::uint8_t { same_job, same_duration, scaled, another_job };
[[nodiscard]] std::string_view name_of(FlagClass flag_class);

struct FlagRule {
  std::string name;
  FlagClass flag_class = FlagClass::another_job;
  std::string field;  ///< of the facts; "" = none
  std::string reason;
  std::string example;
};

using WordSet = std::set<std::string, std::less<>>;

/// A method or stage of training, and the words that name it; a star ends the start of a word. The
/// first row that has a word counts; without a name it names none.
struct MethodWords {
  std::string name;
  std::vector<std::string> words;
};

/// What tells one variant of a program from another (variant.hpp).
struct VariantWords {
  WordSet neutral;           ///< only start a run, place it, or belong to what scales it
  WordSet counting;          ///< a number beside one counts what scales a run: "300e", "8xb32"
  WordSet sizes;             ///< in a flag's name: its number is a size of network or sample
  WordSet sizes_of_no_work;  ///< of a buffer, an evaluation, a rate ("lr encoder")
  std::vector<MethodWords> methods;
};

/// "--optim.base-lr" -> "optim base lr"; "maxEpochs" -> "max epochs".
[[nodiscard]] std::string flag_words(std::string_view flag);

class FlagRules {
 public:
  /// Reads several texts of TOML; a row replaces one of the same name of an earlier text. Errors:
  /// invalid (where and what), conflict (two rows claim a name).
  static Result<FlagRules> parse(std::span<const std::string_view> texts);
  /// Those that are built in.
  static const FlagRules& built_in();

  /// nullptr when no row knows the flag.
  [[nodiscard]] const FlagRule* find(std::string_view flag) const;
  [[nodiscard]] bool is_launcher(std::string_view program) const;
  [[nodiscard]] const std::vector<FlagRule>& all() const { return rules_; }
  [[nodiscard]] const VariantWords& words() const { return words_; }

 private:
  struct Reader;
  std::vector<FlagRule> rules_;
  std::map<std::string, std::size_t, std::less<>> by_end_, by_start_;
  WordSet launchers_;
  VariantWords words_;
};

}  // namespace schedmate::advisor
