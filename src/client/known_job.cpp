// SPDX-License-Identifier: Apache-2.0
#include "client/known_job.hpp"

#include <array>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/words.hpp"

namespace schedmate::client {
namespace {

std::optional<double> figure(const Document& document, const char* key) {
  const auto found = document.find(key);
  if (found == document.end() || !found->is_number()) return std::nullopt;
  return found->get<double>();
}

std::string text_of(const Document& document, const char* key) {
  const auto found = document.find(key);
  return found != document.end() && found->is_string() ? printable(found->get<std::string>()) : "";
}

template <class Word, std::size_t size>
Word word_named(std::string_view name, const std::array<Word, size>& all, Word otherwise) {
  for (const Word each : all)
    if (name_of(each) == name) return each;
  return otherwise;
}

std::vector<LogEvidence> evidence_of(const Document& made) {
  std::vector<LogEvidence> all;
  const auto list = made.find("evidence");
  if (list == made.end() || !list->is_array()) return all;
  for (const Document& each : *list) {
    if (!each.is_object()) continue;
    LogEvidence line;
    line.file = text_of(each, "file");
    line.text = text_of(each, "text");
    line.line = static_cast<std::uint64_t>(std::max(0.0, figure(each, "line").value_or(0)));
    line.role = word_named(text_of(each, "role"),
                           std::array{LineRole::cause, LineRole::cascade, LineRole::teardown},
                           LineRole::cascade);
    all.push_back(std::move(line));
  }
  return all;
}

}  // namespace

std::optional<Progress> progress_of(const Document& job) {
  const auto found = job.find("progress");
  if (found == job.end() || !found->is_object()) return std::nullopt;
  Progress made;
  made.step = figure(*found, "step");
  made.total_steps = figure(*found, "total_steps");
  if (!made.total_steps) made.total_steps = figure(*found, "of");
  made.epoch = figure(*found, "epoch");
  made.total_epochs = figure(*found, "total_epochs");
  made.loss = figure(*found, "loss");
  made.step_time_s = figure(*found, "step_time_s");
  made.remaining_s = figure(*found, "remaining_s");
  made.remaining_by = text_of(*found, "remaining_by");
  made.by = "the daemon";
  return made;
}

std::optional<Diagnosis> diagnosis_of(const Document& job) {
  const auto found = job.find("diagnosis");
  if (found == job.end() || !found->is_object()) return std::nullopt;
  using enum FailureClass;
  using enum Recommendation;
  Diagnosis made;
  made.verdict = word_named(text_of(*found, "class"),
                            std::array{none, infrastructure, framework, user_script, other}, other);
  const auto verdict = found->find("class");
  made.judged = verdict != found->end() && verdict->is_string();
  made.reason = text_of(*found, "reason");
  made.recommendation = word_named(
      text_of(*found, "recommendation"),
      std::array{restart_same, restart_elsewhere, do_not_restart, test_first, notify}, notify);
  made.advice = text_of(*found, "advice");
  made.confidence = figure(*found, "confidence").value_or(0);
  made.evidence = evidence_of(*found);
  made.by = "the daemon";
  for (const LogEvidence& line : made.evidence)
    if (line.role == LineRole::cause && !made.root_line) made.root_line = line.line;
  return made;
}

}  // namespace schedmate::client
