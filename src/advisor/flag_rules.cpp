// SPDX-License-Identifier: Apache-2.0
#include "advisor/flag_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/check.hpp"
#include "base/table_reader.hpp"

namespace schedmate::embedded {
extern const std::string_view flags_toml;
}  // namespace schedmate::embedded

namespace schedmate::advisor {
namespace {

constexpr auto class_names =
    std::to_array<std::string_view>({"same_job", "same_duration", "scaled", "another_job"});

constexpr bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
constexpr bool is_lower(char c) { return c >= 'a' && c <= 'z'; }

/// A row as it stands in the file.
struct RawRule {
  FlagRule rule;
  std::vector<std::string> names;
};

void add_words(TableReader& file, std::string_view key, WordSet& set) {
  std::vector<std::string> words;
  file.maybe_texts(key, words);
  set.insert(words.begin(), words.end());
}

RawRule read_rule(TableReader& row) {
  RawRule raw;
  row.text("name", raw.rule.name);
  row.texts("names", raw.names);
  std::string given;
  row.text("class", given);
  row.maybe_text("field", raw.rule.field);
  row.maybe_text("reason", raw.rule.reason);
  row.maybe_text("example", raw.rule.example);
  const auto* const found = std::ranges::find(class_names, given);
  if (found == class_names.end())
    row.refuse("class",
               fmt::format("class must be same_job, same_duration, scaled or another_job, not '{}'",
                           given));
  else
    raw.rule.flag_class = static_cast<FlagClass>(found - class_names.begin());
  return raw;
}

}  // namespace

/// Gathers the rows of all texts, then numbers them and their names.
struct FlagRules::Reader {
  std::vector<RawRule> rows;
  WordSet launchers;
  VariantWords words;

  Result<void> add(std::string_view text) {
    return TableReader::read(text, "flags.toml", [&](TableReader& file) {
      add_words(file, "launchers", launchers);
      add_words(file, "neutral", words.neutral);
      add_words(file, "counting", words.counting);
      add_words(file, "sizes", words.sizes);
      add_words(file, "sizes_of_no_work", words.sizes_of_no_work);
      file.maybe_tables("method", [&](TableReader& each) {
        MethodWords& method = words.methods.emplace_back();
        each.maybe_text("name", method.name);
        each.texts("words", method.words);
      });
      file.maybe_tables("rule", [&](TableReader& each) {
        RawRule row = read_rule(each);
        std::erase_if(rows, [&](const RawRule& old) { return old.rule.name == row.rule.name; });
        rows.push_back(std::move(row));
      });
    });
  }

  static Result<void> name(const RawRule& row, std::size_t index, FlagRules& rules) {
    for (const std::string& name : row.names) {
      const bool start = name.ends_with(" *");
      const std::string words = flag_words(start ? name.substr(0, name.size() - 2) : name);
      auto& table = start ? rules.by_start_ : rules.by_end_;
      const auto [at, fresh] = table.emplace(words, index);
      if (!fresh && at->second != index) {
        return fail(ErrorCode::conflict,
                    fmt::format("flags.toml: '{}' is a name of both '{}' and '{}'", words,
                                rules.rules_[at->second].name, row.rule.name));
      }
    }
    return {};
  }
};

std::string_view name_of(FlagClass flag_class) {
  return class_names[static_cast<std::size_t>(flag_class)];
}

std::string flag_words(std::string_view flag) {
  std::string words;
  char before = ' ';
  for (const char c : flag) {
    const bool separates = std::string_view("-_./:+ ").contains(c);
    if (!separates && is_upper(c) && is_lower(before)) words += ' ';
    if (separates && !words.empty() && words.back() != ' ') words += ' ';
    if (!separates) words += is_upper(c) ? static_cast<char>(c + 32) : c;
    before = c;
  }
  while (words.ends_with(' ')) words.pop_back();
  return words;
}

Result<FlagRules> FlagRules::parse(std::span<const std::string_view> texts) {
  Reader reader;
  for (const std::string_view text : texts)
    if (auto done = reader.add(text); !done) return tl::unexpected(done.error());
  FlagRules rules;
  rules.launchers_ = std::move(reader.launchers);
  rules.words_ = std::move(reader.words);
  for (const RawRule& row : reader.rows) {
    rules.rules_.push_back(row.rule);
    if (auto done = Reader::name(row, rules.rules_.size() - 1, rules); !done)
      return tl::unexpected(done.error());
  }
  return rules;
}

const FlagRules& FlagRules::built_in() {
  static const FlagRules rules = [] {
    auto parsed = parse({&embedded::flags_toml, 1});
    SCHEDMATE_CHECK(parsed.has_value(), "rules/flags.toml can be read");
    return std::move(*parsed);
  }();
  return rules;
}

const FlagRule* FlagRules::find(std::string_view flag) const {
  const std::string words = flag_words(flag);
  for (std::string_view rest = words; !rest.empty();) {
    if (const auto found = by_end_.find(rest); found != by_end_.end())
      return &rules_[found->second];
    const std::size_t space = rest.find(' ');
    rest = space == std::string_view::npos ? "" : rest.substr(space + 1);
  }
  for (std::string_view start = words; !start.empty();) {
    if (const auto found = by_start_.find(start); found != by_start_.end())
      return &rules_[found->second];
    const std::size_t space = start.rfind(' ');
    start = space == std::string_view::npos ? "" : start.substr(0, space);
  }
  return nullptr;
}

bool FlagRules::is_launcher(std::string_view program) const {
  const std::size_t slash = program.rfind('/');
  return launchers_.contains(slash == std::string_view::npos ? program : program.substr(slash + 1));
}

}  // namespace schedmate::advisor
