// SPDX-License-Identifier: Apache-2.0
#include "log/witness/kernel_rules.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/characters.hpp"
#include "base/text.hpp"

namespace schedmate::embedded {
extern const std::string_view kernel_log_toml;
}  // namespace schedmate::embedded

namespace schedmate::witness {
namespace {

constexpr std::size_t longest_comm = 15;  ///< bytes of a process's name in the kernel
constexpr std::size_t most_message = 2000;

bool is_true(const lines::RuleRow& row, std::string_view key) {
  return row.has(key) && row.text(key) == "true";
}

}  // namespace

Result<KernelRules> KernelRules::load(const std::string& folder) {
  const lines::RuleTable table{
      "kernel_log.toml",
      "event",
      {"name", "class", "component", "any", "all", "none", "reason", "recommendation", "advice",
       "confidence", "explains", "decides", "test"},
      embedded::kernel_log_toml};
  const auto rows = lines::rule_rows(table, folder);
  if (!rows) return tl::unexpected(rows.error());
  KernelRules made;
  for (const lines::RuleRow& row : *rows) {
    auto words = lines::read_condition(row, made.phrases_);
    if (!words) return tl::unexpected(words.error());
    auto verdict = lines::read_failure_verdict(row);
    if (!verdict) return tl::unexpected(verdict.error());
    if (verdict->rule.empty()) return row.refuse("a row needs a name");
    if (words->empty()) return row.refuse("a row needs any or all");
    WitnessFinding finding;
    finding.means = *std::move(verdict);
    finding.explains = is_true(row, "explains");
    finding.decides = is_true(row, "decides");
    made.rows_.push_back({*std::move(words), std::move(finding)});
  }
  return made;
}

std::optional<WitnessFinding> KernelRules::judge(std::string_view message,
                                                 const XidTable& xids) const {
  message = message.substr(0, most_message);
  if (begins_with_process(message) && !message.contains("]: segfault at")) return std::nullopt;
  const lines::Found found = phrases_.find(message);
  for (const Row& row : rows_)
    if (row.words.holds(found)) return row.finding;
  const auto code = kernel_xid(message);
  if (!code) return std::nullopt;
  WitnessFinding finding;
  finding.means =
      xids.at(*code).value_or(lines::FailureVerdict{.rule = fmt::format("xid {}", *code),
                                                    .verdict = FailureClass::infrastructure,
                                                    .component = Component::gpu,
                                                    .reason = "an Xid that is not in the table",
                                                    .advice = "look it up in NVIDIA's catalogue",
                                                    .recommendation = Recommendation::notify,
                                                    .confidence = 0.3});
  finding.decides = finding.explains = finding.means.recommendation != Recommendation::notify;
  return finding;
}

std::optional<int> kernel_xid(std::string_view message) {
  constexpr std::string_view head = "NVRM: Xid (PCI:";
  if (!message.starts_with(head)) return std::nullopt;
  message.remove_prefix(head.size());
  const auto end = message.find_first_not_of("0123456789abcdefABCDEF:.");
  if (end == std::string_view::npos || !message.substr(end).starts_with("): ")) return std::nullopt;
  message.remove_prefix(end + 3);
  const auto digits = message.find_first_not_of("0123456789");
  return parse_number<int>(message.substr(0, digits));
}

bool begins_with_process(std::string_view message) {
  const auto open = message.find('[');
  if (open <= longest_comm) {
    const auto close = message.find(']', open);
    const auto pid = close == std::string_view::npos ? std::string_view()
                                                     : message.substr(open + 1, close - open - 1);
    if (!pid.empty() && std::ranges::all_of(pid, is_digit)) return true;
  }
  for (const std::string_view mark : {" invoked oom-killer:", ": page allocation failure"}) {
    const auto at = message.find(mark);
    if (at <= longest_comm) return true;
  }
  return false;
}

}  // namespace schedmate::witness
