// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstdlib>

#include "base/text.hpp"
#include "command/expand.hpp"

namespace schedmate::command {
namespace {

constexpr std::size_t most_words = 1000;
constexpr int deepest_brace = 20;

struct Braces {
  std::size_t begin = 0;
  std::size_t end = 0;  ///< behind the closing one
  std::vector<std::string_view> choices;
};

/// "1..5", "01..10", "a..e", "1..9..2".
std::vector<std::string> sequence(std::string_view inner) {
  const auto dots = inner.find("..");
  if (dots == std::string_view::npos) return {};
  const auto first = inner.substr(0, dots);
  auto last = inner.substr(dots + 2);
  std::int64_t step = 1;
  if (const auto more = last.find(".."); more != std::string_view::npos) {
    step = std::abs(parse_number<std::int32_t>(last.substr(more + 2)).value_or(0));
    last = last.substr(0, more);
  }
  const auto is_letter = [](std::string_view t) {
    return t.size() == 1 && (t[0] | 0x20) >= 'a' && (t[0] | 0x20) <= 'z';
  };
  const bool letters = is_letter(first) && is_letter(last);
  const auto from = letters ? first[0] : parse_number<std::int32_t>(first);
  const auto to = letters ? last[0] : parse_number<std::int32_t>(last);
  if (!from || !to || step == 0) return {};
  const bool padded = (first.size() > 1 && first[0] == '0') || (last.size() > 1 && last[0] == '0');
  const std::size_t width = padded ? std::max(first.size(), last.size()) : 0;
  std::vector<std::string> made;
  const std::int64_t count = std::abs(std::int64_t{*to} - *from) / step + 1;
  for (std::int64_t i = 0; i < count && made.size() < most_words; ++i) {
    const std::int64_t value = *from + (*to >= *from ? i * step : -i * step);
    made.push_back(letters ? std::string(1, static_cast<char>(value))
                           : fmt::format("{:0{}}", value, width));
  }
  return made;
}

/// The first unquoted braces that hold a comma or "..".
std::optional<Braces> find_braces(std::string_view raw) {
  Scanner scanner(raw);
  for (std::size_t at = 0; at < raw.size(); at = scanner.unit(at)) {
    if (raw[at] != '{') continue;
    Braces found{at, 0, {}};
    int depth = 1;
    std::size_t from = at + 1;
    for (std::size_t i = from; i < raw.size() && depth > 0; i = scanner.unit(i)) {
      if (raw[i] == '{') ++depth;
      if (raw[i] == '}') --depth;
      if ((raw[i] == ',' && depth == 1) || depth == 0) {
        found.choices.push_back(raw.substr(from, i - from));
        from = i + 1;
        found.end = i + 1;
      }
    }
    if (depth > 0) return std::nullopt;
    if (found.choices.size() > 1 || !sequence(found.choices.front()).empty()) return found;
  }
  return std::nullopt;
}

void expand_into(const std::string& raw, int depth, std::vector<std::string>& made) {
  const auto braces = depth > deepest_brace ? std::nullopt : find_braces(raw);
  if (!braces) {
    if (made.size() < most_words) made.push_back(raw);
    return;
  }
  const auto before = raw.substr(0, braces->begin);
  const auto after = raw.substr(braces->end);
  std::vector<std::string> choices(braces->choices.begin(), braces->choices.end());
  if (choices.size() == 1) choices = sequence(choices.front());
  for (const auto& choice : choices) {
    if (made.size() >= most_words) return;
    std::string whole = before;
    whole += choice;
    whole += after;
    expand_into(whole, depth + 1, made);
  }
}

}  // namespace

std::vector<std::string> expand_braces(std::string_view raw) {
  std::vector<std::string> made;
  if (!raw.contains('{')) return {std::string(raw)};
  expand_into(std::string(raw), 0, made);
  return made;
}

}  // namespace schedmate::command
