// SPDX-License-Identifier: Apache-2.0
#include "log/failure/failure_rules.hpp"

#include <algorithm>

#include "log/lines/conditions.hpp"

namespace schedmate::embedded {
extern const std::string_view failures_toml;
}  // namespace schedmate::embedded

namespace schedmate::failure {
namespace {

struct FailureRow {
  lines::Condition words;
  std::vector<std::uint32_t> near;
  std::vector<std::string> frames;
  lines::FailureVerdict verdict;
};

Result<FailureRow> read_failure_row(const lines::RuleRow& from, lines::Phrases& phrases) {
  auto words = lines::read_condition(from, phrases);
  if (!words) return tl::unexpected(words.error());
  auto near = lines::read_phrases(from, "near", phrases);
  if (!near) return tl::unexpected(near.error());
  auto verdict = lines::read_failure_verdict(from);
  if (!verdict) return tl::unexpected(verdict.error());
  FailureRow row{*std::move(words), *std::move(near), from.list("frames"), *std::move(verdict)};
  if (row.verdict.rule.empty()) return from.refuse("a row needs a name");
  if (row.words.empty() && row.frames.empty()) return from.refuse("a row needs any, all or frames");
  return row;
}

}  // namespace

struct FailureRules::Rows {
  lines::Phrases phrases;
  std::vector<FailureRow> failures;
  witness::XidTable xids;
};

FailureRules::FailureRules(std::unique_ptr<Rows> rows) : rows_(std::move(rows)) {}
FailureRules::FailureRules(FailureRules&&) noexcept = default;
FailureRules& FailureRules::operator=(FailureRules&&) noexcept = default;
FailureRules::~FailureRules() = default;

Result<FailureRules> FailureRules::load(const std::string& folder) {
  const lines::RuleTable table{
      "failures.toml",
      "failure",
      {"name", "class", "component", "any", "all", "none", "near", "frames", "reason",
       "recommendation", "advice", "confidence", "open", "outside", "test"},
      embedded::failures_toml};
  const auto rows = lines::rule_rows(table, folder);
  if (!rows) return tl::unexpected(rows.error());
  auto made = std::make_unique<Rows>();
  for (const lines::RuleRow& each : *rows) {
    auto row = read_failure_row(each, made->phrases);
    if (!row) return tl::unexpected(row.error());
    made->failures.push_back(*std::move(row));
  }
  auto xids = witness::XidTable::load(folder);
  if (!xids) return tl::unexpected(xids.error());
  made->xids = *std::move(xids);
  return FailureRules(std::move(made));
}

std::optional<lines::FailureVerdict> FailureRules::judge(const FailureCase& what) const {
  if (const auto code = witness::xid_in(what.line))
    if (auto verdict = rows_->xids.at(*code)) return verdict;
  const lines::Found line = rows_->phrases.find(what.line);
  lines::Found context = line;
  rows_->phrases.find(what.context, context);
  for (const FailureRow& row : rows_->failures) {
    if (!row.words.holds(line)) continue;
    if (!row.near.empty() && !context.has_any(row.near)) continue;
    if (!row.frames.empty() &&
        std::ranges::find(row.frames, name_of(what.raised)) == row.frames.end())
      continue;
    return row.verdict;
  }
  return std::nullopt;
}

const witness::XidTable& FailureRules::xids() const { return rows_->xids; }

}  // namespace schedmate::failure
