// SPDX-License-Identifier: Apache-2.0
#include "log/failure/failure_rules.hpp"

#include <algorithm>

#include "log/lines/conditions.hpp"

namespace schedmate {

namespace embedded {
extern const std::string_view failures_toml;
}  // namespace embedded

namespace {

struct FailureRow {
  Condition words;
  std::vector<std::uint32_t> near;
  std::vector<std::string> frames;
  FailureVerdict verdict;
};

Result<FailureRow> read_failure_row(const RuleRow& from, Phrases& phrases) {
  auto words = read_condition(from, phrases);
  if (!words) return tl::unexpected(words.error());
  auto near = read_phrases(from, "near", phrases);
  if (!near) return tl::unexpected(near.error());
  auto verdict = read_failure_verdict(from);
  if (!verdict) return tl::unexpected(verdict.error());
  FailureRow row{*std::move(words), *std::move(near), from.list("frames"), *std::move(verdict)};
  if (row.verdict.rule.empty()) return from.refuse("a row needs a name");
  if (row.words.empty() && row.frames.empty()) return from.refuse("a row needs any, all or frames");
  return row;
}

}  // namespace

struct FailureRules::Rows {
  Phrases phrases;
  std::vector<FailureRow> failures;
  XidTable xids;
};

FailureRules::FailureRules(std::unique_ptr<Rows> rows) : rows_(std::move(rows)) {}
FailureRules::FailureRules(FailureRules&&) noexcept = default;
FailureRules& FailureRules::operator=(FailureRules&&) noexcept = default;
FailureRules::~FailureRules() = default;

Result<FailureRules> FailureRules::load(const std::string& folder) {
  const RuleTable table{"failures.toml",
                        "failure",
                        {"name", "class", "component", "any", "all", "none", "near", "frames",
                         "reason", "recommendation", "advice", "confidence", "open", "test"},
                        embedded::failures_toml};
  const auto rows = rule_rows(table, folder);
  if (!rows) return tl::unexpected(rows.error());
  auto made = std::make_unique<Rows>();
  for (const RuleRow& each : *rows) {
    auto row = read_failure_row(each, made->phrases);
    if (!row) return tl::unexpected(row.error());
    made->failures.push_back(*std::move(row));
  }
  auto xids = XidTable::load(folder);
  if (!xids) return tl::unexpected(xids.error());
  made->xids = *std::move(xids);
  return FailureRules(std::move(made));
}

std::optional<FailureVerdict> FailureRules::judge(const FailureCase& what) const {
  if (const auto code = xid_in(what.line))
    if (auto verdict = rows_->xids.at(*code)) return verdict;
  const Found line = rows_->phrases.find(what.line);
  Found context = line;
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

const XidTable& FailureRules::xids() const { return rows_->xids; }

}  // namespace schedmate
