// SPDX-License-Identifier: Apache-2.0

/// Facts from memory: a submission whose command differs from an earlier one in flags only, with
/// the files behind its facts unchanged, is not read again.

#include <algorithm>
#include <map>

#include "advisor/admission.hpp"
#include "advisor/versions.hpp"
#include "base/text.hpp"
#include "core/facts_json.hpp"

namespace schedmate::advisor {
namespace {

bool equal_values(std::string_view a, std::string_view b) {
  if (a == b) return true;
  const auto left = parse_number<double>(a);
  const auto right = parse_number<double>(b);
  return left && right && *left == *right;
}

/// What the fact shows of the flag's value: of a length, its amount.
std::string shown_value(const FactValue& value) {
  if (const auto* length = std::get_if<Length>(&value)) return value_text(length->amount);
  return value_text(value);
}

/// The same kind of value made of a new text.
std::optional<FactValue> revalued(const FactValue& old, std::string_view text) {
  if (std::holds_alternative<std::string>(old)) return std::string(text);
  const auto number = parse_number<double>(text);
  if (!number || !(*number > 0)) return std::nullopt;
  if (const auto* length = std::get_if<Length>(&old)) return Length{*number, length->unit};
  if (std::holds_alternative<double>(old)) return *number;
  const auto whole = parse_number<std::int64_t>(text);
  if (std::holds_alternative<std::int64_t>(old) && whole) return *whole;
  return std::nullopt;
}

/// The flag and its value as the command has them, for the evidence; "" when they stand otherwise.
std::string verbatim(std::string_view command, const FlagDifference& flag) {
  for (const std::string& form :
       {flag.name + "=" + flag.ours, flag.name + " " + flag.ours, flag.name + "=\"" + flag.ours}) {
    const std::size_t at = command.find(form);
    if (at == std::string_view::npos) continue;
    std::size_t start = at;
    while (start > 0 && (command[start - 1] == '-' || command[start - 1] == '+')) --start;
    return std::string(command.substr(start, at + form.size() - start));
  }
  return "";
}

class FactsCarryOver {
 public:
  FactsCarryOver(Facts facts, std::string_view command, const FlagRules& rules)
      : facts_(std::move(facts)), command_(command), rules_(rules) {}

  std::optional<Facts> carry(const std::vector<FlagDifference>& found) {
    for (const FlagDifference& each : found)
      if (!carry(each)) return std::nullopt;
    if (!still_proven()) return std::nullopt;
    return std::move(facts_);
  }

 private:
  bool carry(const FlagDifference& flag) {
    if (flag.flag_class == FlagClass::same_job) return true;
    if (flag.flag_class == FlagClass::another_job) return false;
    const FlagRule* rule = rules_.find(flag.name);
    const bool sets_rate = rule != nullptr && rule->name == "learning rate";
    if (flag.flag_class == FlagClass::same_duration && !sets_rate) return true;
    // A schedule or a second rate (lr-scheduler) leaves the rate alone, but that takes reading.
    return revalue(sets_rate ? "learning_rate" : rule->field, flag);
  }

  /// Only a fact that showed the flag's old value, taken from the command, follows its new one.
  bool revalue(std::string_view name, const FlagDifference& flag) {
    Fact* const known = find(name);
    if (known == nullptr) return false;
    Fact& fact = *known;
    if (fact.source != FactSource::command || !equal_values(shown_value(fact.value), flag.theirs))
      return false;
    auto value = revalued(fact.value, flag.ours);
    std::string text = verbatim(command_, flag);
    if (!value || text.empty()) return false;
    fact.value = std::move(*value);
    std::erase_if(fact.evidence, [](const Evidence& each) { return each.file == "<command>"; });
    fact.evidence.insert(fact.evidence.begin(), {"<command>", 0, std::move(text)});
    return true;
  }

  Fact* find(std::string_view name) {
    for (auto* facts : {&facts_.facts, &facts_.extra})
      if (const auto found = facts->find(name); found != facts->end()) return &found->second;
    return nullptr;
  }

  /// Every quotation of the command has to stand in the new one.
  [[nodiscard]] bool still_proven() const {
    const auto stands = [&](const Evidence& each) {
      return each.file != "<command>" || command_.contains(each.text);
    };
    const auto proven = [&](const auto& named) {
      return std::ranges::all_of(named.second.evidence, stands);
    };
    return std::ranges::all_of(facts_.facts, proven) && std::ranges::all_of(facts_.extra, proven);
  }

  Facts facts_;
  std::string_view command_;
  const FlagRules& rules_;
};

}  // namespace

std::optional<Facts> carry_over(const Facts& earlier, std::string_view their_command,
                                std::string_view our_command, const FlagRules& rules) {
  const CommandFlags ours = read_command_flags(our_command, rules);
  const CommandFlags theirs = read_command_flags(their_command, rules);
  return FactsCarryOver(earlier, our_command, rules).carry(compare_commands(ours, theirs, rules));
}

}  // namespace schedmate::advisor
