// SPDX-License-Identifier: Apache-2.0

/// The classifier of rules/log_lines.toml: ordered rows, the first that fits decides.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>

#include "base/text.hpp"
#include "log/failure/classify.hpp"
#include "log/failure/exceptions.hpp"
#include "log/lines/clean.hpp"
#include "log/lines/conditions.hpp"

namespace schedmate::embedded {
extern const std::string_view log_lines_toml;
}  // namespace schedmate::embedded

namespace schedmate::failure {
namespace {

/// What the words of a row do not say.
struct LineCondition {
  bool exception = false;   ///< an exception line
  char level = 0;           ///< 'E': an error or worse, 'W': a warning
  std::size_t numbers = 0;  ///< at least so many
};

struct LineRow {
  lines::Condition words;
  LineCondition line;
  LineVerdict verdict;
};

struct Rules {
  lines::Phrases phrases;
  std::vector<LineRow> rows;
};

template <class Value, std::size_t size>
std::optional<Value> value_of(std::string_view text,
                              const std::array<std::pair<std::string_view, Value>, size>& names) {
  const auto held = std::ranges::find(names, text, &std::pair<std::string_view, Value>::first);
  return held == names.end() ? std::nullopt : std::optional(held->second);
}

Result<LineVerdict> read_verdict(const lines::RuleRow& row) {
  constexpr std::array roles = {std::pair{std::string_view(""), LineRole::cause},
                                std::pair{std::string_view("cause"), LineRole::cause},
                                std::pair{std::string_view("cascade"), LineRole::cascade},
                                std::pair{std::string_view("teardown"), LineRole::teardown}};
  constexpr std::array marks = {std::pair{std::string_view(""), LineMark::none},
                                std::pair{std::string_view("traceback"), LineMark::traceback},
                                std::pair{std::string_view("frame"), LineMark::frame},
                                std::pair{std::string_view("handles"), LineMark::handles},
                                std::pair{std::string_view("follows"), LineMark::follows},
                                std::pair{std::string_view("ignores"), LineMark::ignores},
                                std::pair{std::string_view("announces"), LineMark::announces},
                                std::pair{std::string_view("quotes"), LineMark::quotes},
                                std::pair{std::string_view("starts_run"), LineMark::starts_run}};
  const auto kind = kind_named(row.text("kind"));
  const auto role = value_of(row.text("role"), roles);
  const auto mark = value_of(row.text("mark"), marks);
  if (!kind) return row.refuse("kind must be failure, warning, progress or other");
  if (!role) return row.refuse("role must be cause, cascade or teardown");
  if (!mark)
    return row.refuse(
        "mark must be traceback, frame, handles, follows, ignores, announces, quotes or "
        "starts_run");
  const auto weight = row.has("weight") ? parse_number<int>(row.text("weight")) : std::optional(0);
  if (!weight || *weight < 0 || *weight > 4) return row.refuse("weight must be 0 to 4");
  return LineVerdict{*kind, *mark, *role, static_cast<std::uint8_t>(*weight)};
}

Result<LineRow> read_line_row(const lines::RuleRow& from, lines::Phrases& phrases) {
  auto words = lines::read_condition(from, phrases);
  if (!words) return tl::unexpected(words.error());
  const auto verdict = read_verdict(from);
  if (!verdict) return tl::unexpected(verdict.error());
  LineCondition line;
  line.exception = from.text("shape") == "exception";
  if (from.has("shape") && !line.exception) return from.refuse("shape must be exception");
  const auto& level = from.text("level");
  if (from.has("level") && level != "E" && level != "W") return from.refuse("level must be E or W");
  line.level = level.empty() ? '\0' : level[0];
  const auto numbers = parse_number<std::size_t>(from.text("numbers"));
  if (from.has("numbers") && !numbers) return from.refuse("numbers must be a count");
  line.numbers = numbers.value_or(0);
  if (words->empty() && !line.exception && line.level == 0)
    return from.refuse("a row needs any, all, shape or level");
  return LineRow{*std::move(words), line, *verdict};
}

bool fits(const LineCondition& line, const lines::PrefixedLine& prefixed, std::string_view body) {
  if (line.exception && !exception_name(body)) return false;
  if (line.level == 'W' && prefixed.level != 'W') return false;
  if (line.level == 'E' && prefixed.level != 'E' && prefixed.level != 'F') return false;
  return line.numbers == 0 ||
         static_cast<std::size_t>(std::ranges::count(body, '#')) >= line.numbers;
}

LineVerdict judge(const Rules& rules, std::string_view state) {
  const lines::PrefixedLine prefixed = lines::read_prefixes(state);
  const std::string text = lines::template_of(prefixed.body);
  const lines::Found found = rules.phrases.find(text);
  for (const LineRow& row : rules.rows)
    if (row.words.holds(found) && fits(row.line, prefixed, text)) return row.verdict;
  return {};
}

}  // namespace

Result<ClassifyLine> make_rules_classifier(const ClassifierInput& input) {
  const lines::RuleTable table{
      "log_lines.toml",
      "line",
      {"kind", "role", "weight", "mark", "any", "all", "none", "shape", "level", "numbers", "test"},
      embedded::log_lines_toml};
  const auto rows = lines::rule_rows(table, input.rules);
  if (!rows) return tl::unexpected(rows.error());
  auto rules = std::make_shared<Rules>();
  for (const lines::RuleRow& each : *rows) {
    auto row = read_line_row(each, rules->phrases);
    if (!row) return tl::unexpected(row.error());
    rules->rows.push_back(*std::move(row));
  }
  return [rules = std::shared_ptr<const Rules>(std::move(rules))](std::string_view state) {
    return judge(*rules, state);
  };
}

}  // namespace schedmate::failure
