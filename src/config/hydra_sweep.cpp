// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "base/text.hpp"
#include "config/hydra.hpp"

namespace schedmate::config {
namespace {

constexpr std::size_t most_options = 1000;

/// Parts at commas that stand in no bracket and no quotes.
std::vector<std::string> split_options(std::string_view text) {
  std::vector<std::string> parts;
  int open = 0;
  char quote = 0;
  std::size_t start = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else if (c == '[' || c == '{' || c == '(') {
      ++open;
    } else if (c == ']' || c == '}' || c == ')') {
      --open;
    } else if (c == ',' && open == 0) {
      parts.emplace_back(trim(text.substr(start, at - start)));
      start = at + 1;
    }
  }
  parts.emplace_back(trim(text.substr(start)));
  return parts;
}

/// "range(1,10,2)": from, below, step; also "range(10)" and named arguments in order.
std::vector<std::string> range_options(const std::vector<std::string>& arguments) {
  std::vector<double> numbers;
  for (const auto& argument : arguments) {
    const auto equals = argument.find('=');
    const auto number = parse_number<double>(
        trim(std::string_view(argument).substr(equals == std::string::npos ? 0 : equals + 1)));
    if (!number) return {};
    numbers.push_back(*number);
  }
  if (numbers.size() == 1) numbers.insert(numbers.begin(), 0);
  if (numbers.size() == 2) numbers.push_back(1);
  if (numbers.size() != 3 || numbers[2] == 0) return {};
  const double count = std::ceil((numbers[1] - numbers[0]) / numbers[2]);
  if (!(count > 0) || count > static_cast<double>(most_options)) return {};
  std::vector<std::string> options;
  for (double i = 0; i < count; ++i) options.push_back(repr(Value(numbers[0] + i * numbers[2])));
  for (auto& option : options)
    if (option.ends_with(".0")) option.resize(option.size() - 2);
  return options;
}

}  // namespace

std::optional<std::vector<std::string>> sweep_options(std::string_view text) {
  text = trim(text);
  auto parts = split_options(text);
  if (parts.size() > 1) {
    if (parts.size() > most_options) parts.clear();
    return parts;
  }
  const auto open = text.find('(');
  if (open == std::string_view::npos || !text.ends_with(')')) return std::nullopt;
  const auto name = text.substr(0, open);
  const auto inside = text.substr(open + 1, text.size() - open - 2);
  if (name == "choice") return split_options(inside);
  if (name == "range") return range_options(split_options(inside));
  // shuffle(...) and tag(...) hold a sweep; the others have no list of options.
  if (name == "shuffle" || name == "sort") return split_options(inside);
  if (name == "interval" || name == "glob" || name == "tag") return std::vector<std::string>();
  return std::nullopt;
}

std::vector<Override> read_overrides(std::span<const Value> words) {
  std::vector<Override> overrides;
  for (const Value& word : words) {
    if (word.text() == nullptr) continue;
    std::string_view text = *word.text();
    if (text.empty() || text.starts_with('-')) continue;
    Override made;
    made.place = word.place;
    if (text.starts_with('~')) {
      made.kind = Override::Kind::remove;
      text.remove_prefix(1);
    } else if (text.starts_with('+')) {
      made.kind = Override::Kind::add;
      text.remove_prefix(text.starts_with("++") ? 2 : 1);
    }
    const auto equals = text.find('=');
    made.key = trim(text.substr(0, equals));
    made.has_value = equals != std::string_view::npos;
    if (made.has_value) made.text = text.substr(equals + 1);
    if (made.has_value || made.kind == Override::Kind::remove) overrides.push_back(std::move(made));
  }
  return overrides;
}

}  // namespace schedmate::config
