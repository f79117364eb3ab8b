// SPDX-License-Identifier: Apache-2.0
#include "agent/fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/text.hpp"

namespace schedmate::agent {
namespace {

constexpr std::array fields = {
#define FIELD(name, kind, keys, meaning) Field{#name, FieldKind::kind, keys, meaning},
#include "agent/fields.def"
#undef FIELD
};

constexpr std::size_t longest_word = 120;

bool is_word(std::string_view text) {
  return !text.empty() && text.size() <= longest_word && squeezed(text).size() >= 2 &&
         std::ranges::all_of(text, [](char c) { return c >= ' ' || c < '\0'; });
}

std::optional<double> as_number(const FactValue& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
  if (const auto* real = std::get_if<double>(&value)) return *real;
  if (const auto* text = std::get_if<std::string>(&value)) return number_of(*text);
  return std::nullopt;
}

std::optional<FactValue> whole_value(const FactValue& claimed) {
  const auto number = as_number(claimed);
  if (!number || !(*number >= 1) || *number > 1e9 || *number != std::floor(*number)) return {};
  return static_cast<std::int64_t>(*number);
}

std::optional<FactValue> number_value(const FactValue& claimed) {
  const auto number = as_number(claimed);
  if (!number || !(*number > 0) || *number > 1e15) return {};
  if (*number == std::floor(*number)) return static_cast<std::int64_t>(*number);
  return *number;
}

std::optional<FactValue> length_value(const FactValue& claimed) {
  const auto* length = std::get_if<Length>(&claimed);
  constexpr std::array<std::string_view, 5> units = {"epochs", "steps", "samples", "env steps",
                                                     "kimg"};
  if (length == nullptr || std::ranges::find(units, length->unit) == units.end()) return {};
  const double most = length->unit == "epochs" ? 1e6 : 1e15;
  if (!(length->amount > 0) || length->amount > most) return {};
  return *length;
}

std::optional<FactValue> listed(const FactValue& claimed,
                                std::initializer_list<const char*> words) {
  const auto* text = std::get_if<std::string>(&claimed);
  if (text == nullptr) return {};
  for (const char* word : words) {
    if (*text == word) return *text;
  }
  return {};
}

std::optional<FactValue> strategy_value(const FactValue& claimed) {
  const auto* text = std::get_if<std::string>(&claimed);
  if (text == nullptr || text->empty()) return {};
  for (const std::string_view part : split(*text, '+')) {
    if (!listed(FactValue(std::string(part)),
                {"none", "dp", "ddp", "fsdp", "deepspeed-zero1", "deepspeed-zero2",
                 "deepspeed-zero3", "tp", "pp", "ep"})) {
      return {};
    }
  }
  return *text;
}

}  // namespace

std::span<const Field> agent_fields() { return fields; }

const Field* find_field(std::string_view name) {
  const auto found = std::ranges::find(fields, name, &Field::name);
  return found == fields.end() ? nullptr : &*found;
}

std::optional<FactValue> value_for(const Field& field, const FactValue& claimed) {
  switch (field.kind) {
    case FieldKind::whole:
      return whole_value(claimed);
    case FieldKind::number:
      return number_value(claimed);
    case FieldKind::length:
      return length_value(claimed);
    case FieldKind::strategy:
      return strategy_value(claimed);
    case FieldKind::precision:
      return listed(claimed, {"fp32", "fp16-amp", "bf16-amp", "bf16", "fp16", "fp8"});
    case FieldKind::scale:
      return listed(claimed, {"small", "medium", "large"});
    case FieldKind::flag:
      return std::holds_alternative<bool>(claimed) ? std::optional(claimed) : std::nullopt;
    default:
      break;
  }
  const auto* text = std::get_if<std::string>(&claimed);
  return text != nullptr && is_word(*text) ? std::optional(claimed) : std::nullopt;
}

std::string comparable(const FactValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return squeezed(*text);
  return shown(value);
}

std::string shown(const FactValue& value) {
  struct Show {
    std::string operator()(std::monostate) const { return "null"; }
    std::string operator()(bool flag) const { return flag ? "true" : "false"; }
    std::string operator()(std::int64_t number) const { return fmt::to_string(number); }
    std::string operator()(double number) const { return fmt::format("{}", number); }
    std::string operator()(const std::string& text) const { return text; }
    std::string operator()(const Length& length) const {
      return fmt::format("{} {}", length.amount, length.unit);
    }
  };
  return std::visit(Show{}, value);
}

std::optional<double> number_of(std::string_view text) {
  std::string plain;
  for (const char c : trim(text)) {
    if (c != '_') plain += c;
  }
  if (plain.starts_with('+')) plain.erase(0, 1);
  const auto number = parse_number<double>(plain);
  return number && std::isfinite(*number) ? number : std::nullopt;
}

std::optional<double> parameters_named(std::string_view text) {
  for (const std::string& word : name_words(text)) {
    const char last = word.back();
    if (word.size() < 2 || (last != 'b' && last != 'm')) continue;
    const auto number = parse_number<double>(std::string_view(word).substr(0, word.size() - 1));
    if (number) return *number * (last == 'b' ? 1e9 : 1e6);
  }
  return std::nullopt;
}

}  // namespace schedmate::agent
