// SPDX-License-Identifier: Apache-2.0
#include "log/witness/xid_table.hpp"

#include "base/text.hpp"

namespace schedmate::embedded {
extern const std::string_view xid_toml;
}  // namespace schedmate::embedded

namespace schedmate::witness {
Result<XidTable> XidTable::load(const std::string& folder) {
  const lines::RuleTable table{
      "xid.toml",
      "xid",
      {"code", "class", "component", "says", "recommendation", "advice", "confidence"},
      embedded::xid_toml};
  const auto rows = lines::rule_rows(table, folder);
  if (!rows) return tl::unexpected(rows.error());
  XidTable made;
  for (const lines::RuleRow& row : *rows) {
    const auto verdict = lines::read_failure_verdict(row);
    if (!verdict) return tl::unexpected(verdict.error());
    for (const std::string& text : row.list("code")) {
      const auto code = parse_number<int>(text);
      if (!code) return row.refuse("code must be a list of numbers");
      auto [held, is_new] = made.rows_.try_emplace(*code, *verdict);  // the first one counts
      if (is_new) held->second.rule = "xid " + text;
    }
  }
  return made;
}

std::optional<lines::FailureVerdict> XidTable::at(int code) const {
  const auto held = rows_.find(code);
  return held == rows_.end() ? std::nullopt : std::optional(held->second);
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

}  // namespace schedmate::witness
