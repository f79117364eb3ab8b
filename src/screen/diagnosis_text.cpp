// SPDX-License-Identifier: Apache-2.0
#include "screen/diagnosis_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/table.hpp"
#include "base/words.hpp"

namespace schedmate::screen {
namespace {

std::string place_of(const LogEvidence& evidence) {
  return fmt::format("{}:{}", printable(evidence.file), evidence.line);
}

std::string evidence_text(std::string_view title, const std::vector<LogEvidence>& list,
                          bool with_role) {
  if (list.empty()) return "";
  std::vector<std::vector<std::string>> rows;
  for (const LogEvidence& each : list) {
    rows.push_back({"  " + place_of(each)});
    if (with_role) rows.back().emplace_back(name_of(each.role));
    rows.back().push_back(each.count > 1 ? fmt::format("{}  x {}", each.text, each.count)
                                         : each.text);
  }
  return fmt::format("\n{}\n{}", title, aligned(rows));
}

/// "7 jobs of 3 users, always with n12 (jobs 9 8 5)".
std::string seen_text(const EarlierOccurrences& seen) {
  auto text =
      fmt::format("{} of {}", counted(seen.jobs, "earlier job"), counted(seen.users, "user"));
  if (!seen.nodes.empty()) text += fmt::format(", always with {}", fmt::join(seen.nodes, " "));
  if (!seen.job_ids.empty()) text += printable(fmt::format(" ({})", fmt::join(seen.job_ids, " ")));
  return text;
}

/// One line for each that was asked, and one for all that were not.
std::string witness_text(const std::vector<Witness>& witnesses) {
  std::string asked;
  std::string missing;
  for (const Witness& each : witnesses) {
    if (!each.asked) {
      missing += fmt::format("{}{} ({})", missing.empty() ? "" : ", ", each.name, each.says);
      continue;
    }
    const auto* const word = !each.agrees ? "does not say" : *each.agrees ? "agrees" : "disagrees";
    asked += fmt::format("  {} {}: {}\n", each.name, word, printable(each.says));
  }
  if (!missing.empty()) asked += fmt::format("  missing: {}\n", printable(missing));
  return asked.empty() ? "" : "\nwitnesses\n" + asked;
}

}  // namespace

std::string diagnosis_text(const Diagnosis& made, const std::vector<std::string>& notes) {
  const auto verdict = made.judged && !made.unsure ? name_of(made.verdict) : "not known";
  std::vector<std::vector<std::string>> rows{{"class", std::string(verdict)}};
  if (made.component != Component::none)
    rows.push_back({"component", std::string(name_of(made.component))});
  rows.push_back({"reason", printable(made.reason)});
  if (made.verdict != FailureClass::none) {
    rows.push_back({"recommendation", std::string(name_of(made.recommendation))});
    if (!made.advice.empty()) rows.push_back({"", made.advice});
  }
  if (!made.nodes.empty()) rows.push_back({"nodes", fmt::format("{}", fmt::join(made.nodes, " "))});
  const std::string line =
      made.root_line ? fmt::format(", of the line {:.2f}", made.root_confidence) : "";
  rows.push_back({"confidence", fmt::format("{:.2f}{} ({})", made.confidence, line, made.by)});
  if (made.judged)
    for (const auto& each : made.unread) rows.push_back({"note", printable(each)});
  for (const auto& note : notes) rows.push_back({"note", note});
  if (!made.fingerprint.empty()) rows.push_back({"fingerprint", made.fingerprint});
  if (made.seen) rows.push_back({"seen", seen_text(*made.seen)});
  return aligned(rows) + evidence_text("evidence", made.evidence, true) +
         evidence_text("new since the good run", made.unseen, false) + witness_text(made.witnesses);
}

}  // namespace schedmate::screen
