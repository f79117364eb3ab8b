// SPDX-License-Identifier: Apache-2.0
#include "service/redaction.hpp"

#include <utility>
#include <variant>

#include "base/text.hpp"
#include "base/words.hpp"
#include "tree/redact.hpp"

namespace schedmate::service {
namespace {

void redact_fact(Fact& fact) {
  if (auto* text = std::get_if<std::string>(&fact.value)) *text = redacted(*text);
  for (Evidence& line : fact.evidence) line.text = redacted(line.text);
}

}  // namespace

std::string redacted(std::string_view text) { return tree::redact(text); }

JobSource redacted(JobSource job) {
  job.command = redacted(job.command);
  return job;
}

Facts redacted(Facts facts) {
  for (auto* group : {&facts.facts, &facts.extra})
    for (auto& [name, fact] : *group) redact_fact(fact);
  for (std::string& note : facts.degraded) note = redacted(note);
  facts.expect_reason = redacted(facts.expect_reason);
  return facts;
}

std::string safe_line(std::string_view line) { return printable(redacted(line)); }

std::string safe_text(std::string_view text) {
  std::string safe;
  const std::string clean = redacted(text);
  for (const auto line : split(clean, '\n')) safe += printable(line) + "\n";
  safe.pop_back();
  return safe;
}

void make_safe(std::vector<std::string>& lines) {
  for (std::string& line : lines) line = safe_line(line);
}

}  // namespace schedmate::service
