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

 private:
  struct Reader;
  std::vector<FlagRule> rules_;
  std::map<std::string, std::size_t, std::less<>> by_end_, by_start_;
  std::set<std::string, std::less<>> launchers_;
};

}  // namespace schedmate::advisor
