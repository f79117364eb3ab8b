// SPDX-License-Identifier: Apache-2.0
#include "advisor/fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "advisor/names.hpp"
#include "base/text.hpp"
#include "core/facts_json.hpp"

namespace schedmate::advisor {
namespace {

/// What is compared; the other facts (learning rate, augmentation) change neither duration nor use.
constexpr auto compared = std::to_array<std::string_view>(
    {"model_name", "model_family", "model_type", "task_type", "task", "dataset", "framework",
     "distributed", "batch_size", "length", "precision", "optimizer", "params_scale", "pretrained",
     "sequence_length", "resolution", "gpus", "nodes"});
constexpr auto names = std::to_array<std::string_view>(
    {"model_name", "model_family", "task", "dataset", "framework", "optimizer"});
constexpr auto compared_extra = std::to_array<std::string_view>({"accumulation", "dataset_size"});

/// Names of files and of methods: they may decide, but rank nothing.
constexpr auto not_embedded = std::to_array<std::string_view>({"method", "variant", "program"});

template <std::size_t count>
bool is_in(const std::array<std::string_view, count>& list, std::string_view name) {
  return std::ranges::find(list, name) != list.end();
}

/// "224 x 224", "(224, 224)" and "224" are the same square.
std::string normal_resolution(std::string_view text) {
  std::string sides;
  std::string first;
  bool square = true;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && text[end] >= '0' && text[end] <= '9') ++end;
    if (end == at) {
      ++at;
      continue;
    }
    const std::string side(text.substr(at, end - at));
    if (first.empty()) first = side;
    square = square && side == first;
    sides += (sides.empty() ? "" : "x") + side;
    at = end;
  }
  return square ? first : sides;
}

std::string normal_value(std::string_view name, const FactValue& value) {
  const std::string text = value_text(value);
  if (is_in(names, name)) return normal_name(text);
  if (name == "resolution") return normal_resolution(text);
  return lower_case(trim(text));
}

/// "imagenet" -> "dataset=imagenet"; white space inside a value would make two words of it.
void add_word(std::string& text, std::string_view name, std::string_view value) {
  if (!text.empty()) text += ' ';
  text += fmt::format("{}={}", name, value);
  std::ranges::replace_if(text, [](char c) { return c == '\t' || c == '\n' || c == '\r'; }, '-');
}

/// The power of two below, as a word.
std::string size_class(double value) {
  if (!(value >= 1)) return "below-1";
  if (value >= 0x1p62) return "huge";
  return fmt::format("{}", std::bit_floor(static_cast<std::uint64_t>(value)));
}

}  // namespace

Fields fields_of(const Facts& facts) {
  Fields fields;
  const auto take = [&](std::string_view name, const FactValue& value) {
    if (std::string normal = normal_value(name, value); !normal.empty())
      fields.emplace(name, std::move(normal));
  };
  for (const std::string_view name : compared)
    if (const Fact* fact = known_fact(facts, name)) take(name, fact->value);
  for (const std::string_view name : compared_extra) {
    if (const auto found = facts.extra.find(name); found != facts.extra.end())
      take(name, found->second.value);
    else if (const Fact* fact = known_fact(facts, name))
      take(name, fact->value);
  }
  if (facts.expect != Outlook::unknown) fields.emplace("expect", outlook_word(facts.expect));
  fields.emplace("runs", fmt::format("{}", facts.runs));
  return fields;
}

std::string_view field(const Fields& fields, std::string_view name) {
  const auto found = fields.find(name);
  return found == fields.end() ? std::string_view() : std::string_view(found->second);
}

std::optional<double> number_field(const Fields& fields, std::string_view name) {
  return parse_number<double>(field(fields, name));
}

std::optional<Length> parse_length(std::string_view text) {
  const std::size_t space = text.find(' ');
  const auto amount = parse_number<double>(text.substr(0, space));
  if (!amount || !std::isfinite(*amount) || space == std::string_view::npos) return std::nullopt;
  return Length{*amount, std::string(text.substr(space + 1))};
}

std::optional<Length> length_field(const Fields& fields) {
  return parse_length(field(fields, "length"));
}

std::string embedding_text(const Fields& fields) {
  constexpr auto distinctive = std::to_array<std::string_view>(
      {"model_name", "model_family", "dataset", "task", "optimizer"});
  const auto known = std::ranges::count_if(
      distinctive, [&](std::string_view name) { return !field(fields, name).empty(); });
  if (known < 1) return "";
  std::string text;
  for (const auto& [name, value] : fields) {
    if (is_in(not_embedded, name)) continue;
    std::string word = value;
    std::ranges::replace(word, ' ', '-');
    add_word(text, name, word);
    // Each word of a name by itself: "gpt-2-124m" and "gpt-2-xl" share two of three.
    if (is_in(names, name) && value.contains('-')) {
      for (const std::string_view part : split(value, '-')) add_word(text, name, part);
    }
  }
  for (const std::string_view name : {"batch_size", "gpus", "sequence_length"}) {
    if (const auto value = number_field(fields, name))
      add_word(text, fmt::format("{}_class", name), size_class(*value));
  }
  if (const auto length = length_field(fields))
    add_word(text, "length_class", size_class(length->amount) + '-' + length->unit);
  return text;
}

}  // namespace schedmate::advisor
