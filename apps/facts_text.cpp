// SPDX-License-Identifier: Apache-2.0
#include "apps/facts_text.hpp"

#include <fmt/format.h>

#include "base/words.hpp"
#include "core/facts_json.hpp"

namespace schedmate {
namespace {

using Row = std::vector<std::string>;

/// "train.py:12: model = resnet50()", cut so that the table stays one.
std::string evidence_of(const Fact& fact) {
  if (fact.evidence.empty()) return "";
  const Evidence& first = fact.evidence.front();
  constexpr std::size_t widest = 60;
  std::string text = printable(first.text.substr(0, widest));
  if (first.text.size() > widest) text += "...";
  const std::string place =
      first.line > 0 ? fmt::format("{}:{}", printable(first.file), first.line) : first.file;
  return fmt::format("{}: {}", place, text);
}

Row row_of(const std::string& name, const Fact& fact) {
  return {name, fact.known() ? printable(value_text(fact.value)) : "?",
          fact.known() ? fmt::format("{:.2f}", fact.confidence) : "",
          fact.known() ? std::string(source_word(fact.source)) : "", evidence_of(fact)};
}

std::string list_of(std::string_view title, const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items)
    text += fmt::format("{}{}\n", text.empty() ? fmt::format("\n{}\n", title) : "",
                        "  " + printable(item));
  return text;
}

std::string model_line(const ModelUse& use) {
  if (use.calls + use.accepted + use.dropped == 0) return "model: not asked\n";
  return fmt::format("model: {} calls, {} tokens, {} accepted, {} dropped\n", use.calls, use.tokens,
                     use.accepted, use.dropped);
}

std::string rejected_of(const Facts& facts) {
  std::vector<Row> rows;
  for (const Rejected& each : facts.rejected) {
    rows.push_back({"  " + each.field, printable(value_text(each.fact.value)), printable(each.why),
                    evidence_of(each.fact)});
  }
  return rows.empty() ? "" : "\nrejected\n" + aligned(rows);
}

}  // namespace

std::string facts_text(const Facts& facts, bool explain) {
  std::vector<Row> rows{{"fact", "value", "sure", "source", "evidence"}};
  for (const std::string_view name : fact_fields()) {
    const auto found = facts.facts.find(name);
    rows.push_back(row_of(std::string(name), found == facts.facts.end() ? Fact() : found->second));
  }
  for (const auto& [name, fact] : facts.extra) rows.push_back(row_of(name, fact));
  std::string text = aligned(rows);
  text += fmt::format("\nexpect: {}{}{}\n", outlook_word(facts.expect),
                      facts.expect_reason.empty() ? "" : ", " + printable(facts.expect_reason),
                      facts.runs == 1 ? "" : fmt::format("; {} trainings", facts.runs));
  text += model_line(facts.model);
  text += list_of("could not be read", facts.degraded);
  if (explain) text += rejected_of(facts) + list_of("files read", facts.files_read);
  return text;
}

}  // namespace schedmate
