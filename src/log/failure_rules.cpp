// SPDX-License-Identifier: Apache-2.0
#include "log/failure_rules.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "base/text.hpp"
#include "log/conditions.hpp"

namespace schedmate {

namespace embedded {
extern const std::string_view failures_toml;
extern const std::string_view xid_toml;
}  // namespace embedded

namespace {

struct FailureRow {
  Condition words;
  std::vector<std::uint32_t> near;
  std::vector<std::string> frames;
  FailureVerdict verdict;
};

/// The value whose name is `text`.
template <class Value, std::size_t size>
bool read_name(std::string_view text, const std::array<Value, size>& values, Value& out) {
  const auto held = std::ranges::find(values, text, [](Value each) { return name_of(each); });
  if (held == values.end()) return false;
  out = *held;
  return true;
}

}  // namespace

Result<FailureVerdict> read_failure_verdict(const RuleRow& row) {
  constexpr std::array classes = {FailureClass::none, FailureClass::infrastructure,
                                  FailureClass::framework, FailureClass::user_script,
                                  FailureClass::other};
  constexpr std::array components = {Component::gpu,  Component::nvlink,  Component::network,
                                     Component::node, Component::storage, Component::other};
  constexpr std::array advice = {Recommendation::restart_same, Recommendation::restart_elsewhere,
                                 Recommendation::do_not_restart, Recommendation::test_first,
                                 Recommendation::notify};
  FailureVerdict made;
  made.rule = row.text("name");
  made.reason = row.has("says") ? row.text("says") : row.text("reason");
  made.advice = row.text("advice");
  if (!read_name(row.text("class"), classes, made.verdict))
    return row.refuse("class is infrastructure, framework, user_script, other or none");
  if (row.has("component") && !read_name(row.text("component"), components, made.component))
    return row.refuse("component is gpu, nvlink, network, node, storage or other");
  if ((made.verdict == FailureClass::infrastructure) != row.has("component"))
    return row.refuse("infrastructure, and only that, has a component");
  if (!read_name(row.text("recommendation"), advice, made.recommendation))
    return row.refuse(
        "recommendation is restart_same, restart_elsewhere, do_not_restart, test_first or notify");
  const auto confidence = parse_number<double>(row.text("confidence"));
  if (!confidence || *confidence < 0 || *confidence > 1)
    return row.refuse("confidence is from 0 to 1");
  made.confidence = *confidence;
  made.open = row.has("open") && row.text("open") == "true";
  return made;
}

namespace {

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
  std::map<int, FailureVerdict> xids;

  Result<void> add_xids(const std::string& folder) {
    const RuleTable table{
        "xid.toml",
        "xid",
        {"code", "class", "component", "says", "recommendation", "advice", "confidence"},
        embedded::xid_toml};
    const auto rows = rule_rows(table, folder);
    if (!rows) return tl::unexpected(rows.error());
    for (const RuleRow& row : *rows) {
      const auto verdict = read_failure_verdict(row);
      if (!verdict) return tl::unexpected(verdict.error());
      for (const std::string& text : row.list("code")) {
        const auto code = parse_number<int>(text);
        if (!code) return row.refuse("code is a list of numbers");
        auto [held, is_new] = xids.try_emplace(*code, *verdict);  // the first one counts
        if (is_new) held->second.rule = "xid " + text;
      }
    }
    return {};
  }
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
  if (auto done = made->add_xids(folder); !done) return tl::unexpected(done.error());
  return FailureRules(std::move(made));
}

std::optional<FailureVerdict> FailureRules::judge(const FailureCase& what) const {
  if (const auto code = xid_in(what.line))
    if (auto verdict = xid(*code)) return verdict;
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

std::optional<FailureVerdict> FailureRules::xid(int code) const {
  const auto held = rows_->xids.find(code);
  return held == rows_->xids.end() ? std::nullopt : std::optional(held->second);
}

std::optional<int> xid_in(std::string_view line) {
  const auto number_behind = [](std::string_view text) -> std::optional<int> {
    std::size_t end = 0;
    while (end < text.size() && end < 4 && text[end] >= '0' && text[end] <= '9') ++end;
    return parse_number<int>(text.substr(0, end));
  };
  constexpr std::string_view head = "Xid (PCI:";
  const auto at = line.find(head);
  if (at == std::string_view::npos) return std::nullopt;
  constexpr std::string_view cause = "caused by previous Xid ";
  if (const auto other = line.find(cause, at); other != std::string_view::npos)
    return number_behind(line.substr(other + cause.size()));
  const auto end = line.find("): ", at);
  return end == std::string_view::npos ? std::nullopt : number_behind(line.substr(end + 3));
}

}  // namespace schedmate
