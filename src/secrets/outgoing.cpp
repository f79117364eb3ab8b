// SPDX-License-Identifier: Apache-2.0
#include "secrets/outgoing.hpp"

#include <sys/stat.h>

#include <utility>
#include <variant>

#include "base/foreign_file.hpp"
#include "base/text.hpp"
#include "base/words.hpp"
#include "log/lines/lines.hpp"
#include "secrets/redact.hpp"

namespace schedmate::secrets {
namespace {

void redact_fact(Fact& fact) {
  if (auto* text = std::get_if<std::string>(&fact.value)) *text = redacted(*text);
  for (Evidence& line : fact.evidence) line.text = redacted(line.text);
}

std::string printable_lines(std::string_view text) {
  std::string safe;
  for (const auto line : split(text, '\n')) safe += printable(line) + "\n";
  safe.pop_back();
  return safe;
}

}  // namespace

std::string redacted(std::string_view text) { return secrets::redact(text); }

std::vector<std::string> redacted(std::vector<std::string> texts) {
  for (std::string& text : texts) text = redacted(text);
  return texts;
}

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

std::string safe_text(std::string_view text) { return printable_lines(redacted(text)); }

void make_safe(std::vector<std::string>& lines) {
  for (std::string& line : lines) line = safe_line(line);
}

// Logs.

struct LogRedactor::State {
  std::vector<std::string> logs;  ///< that were not read yet
  FileAccess access;
  secrets::KnownSecrets known;
};

namespace {

constexpr std::size_t most_whole_log = std::size_t{4} << 20U;
constexpr std::size_t end_of_log = std::size_t{1} << 20U;  ///< looked at of a longer one, each end

/// The first lines of a log, up to so many bytes; whether that is all of it.
bool read_head(const ForeignPath& path, std::size_t most_bytes, std::string& text) {
  bool whole = true;
  const auto done = lines::each_line(path, [&](const lines::Line& line) {
    whole = text.size() + line.text.size() < most_bytes;
    if (whole) text.append(line.text).append("\n");
    return whole;
  });
  return whole && done.has_value();
}

void learn_log(const ForeignPath& path, secrets::KnownSecrets& known) {
  const auto status =
      ForeignFile::open(path).and_then([](ForeignFile file) { return file.status(); });
  if (!status || !S_ISREG(status->st_mode)) return;
  std::string text;
  const bool whole = read_head(path, most_whole_log, text);
  if (!whole && text.size() > end_of_log) text.resize(text.rfind('\n', end_of_log) + 1);
  known.learn(text);
  if (whole) return;
  if (const auto tail = lines::tail_of(path, end_of_log)) known.learn(tail->text);
}

}  // namespace

LogRedactor::LogRedactor(std::vector<std::string> logs, FileAccess access)
    : state_(std::make_shared<State>(std::move(logs), std::move(access), secrets::KnownSecrets())) {
  state_->access.note = nullptr;  // who answers from the log says what was left out of it
}

void LogRedactor::learn(std::string_view text) const {
  state_->logs.clear();
  state_->known.learn(text);
}

std::string LogRedactor::text(std::string_view text) const {
  for (const std::string& path : std::exchange(state_->logs, {}))
    learn_log({path, state_->access}, state_->known);
  return printable_lines(state_->known.redact(text));
}

std::string LogRedactor::line(std::string_view line) const { return printable(text(line)); }

void LogRedactor::make_safe(std::vector<std::string>& lines) const {
  for (std::string& each : lines) each = line(each);
}

}  // namespace schedmate::secrets
