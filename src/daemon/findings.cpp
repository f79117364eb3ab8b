// SPDX-License-Identifier: Apache-2.0
#include "daemon/findings.hpp"

#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <schedmate/progress.hpp>
#include <string_view>
#include <utility>

#include "base/document_value.hpp"
#include "queue/running_logs.hpp"
#include "secrets/outgoing.hpp"

namespace schedmate::daemon {
namespace {

std::uint64_t count(const Document& value) {
  return value.is_number_unsigned() ? value.get<std::uint64_t>() : 0;
}

/// Fit for people: it goes to screens and owners.
std::string words(const Document& value) {
  constexpr std::size_t longest = 1000;
  std::string text = secrets::safe_line(text_in(value));
  if (text.size() > longest) text.resize(longest);
  return text;
}

/// The value of that name; the first one for any other word.
template <class Value>
Value named(const Document& word, Value last) {
  if (word.is_string())
    for (int i = 0; i <= static_cast<int>(last); ++i)
      if (word.get_ref<const std::string&>() == name_of(static_cast<Value>(i)))
        return static_cast<Value>(i);
  return Value{};
}

/// `figures`: an Estimate or a GivenAdvice.
live::CodeFound code_found(AdviceSource source, const auto& figures) {
  live::CodeFound found{.source = std::string(name_of(source)),
                        .p10 = figures.p10,
                        .p50 = figures.p50,
                        .p90 = figures.p90};
  if (source != AdviceSource::none)
    found.prediction = Prediction{
        .run_time = figures.p50,
        .distribution = RunTimeDistribution{figures.mean, figures.p10, figures.p50, figures.p90},
        .source = static_cast<std::uint8_t>(source)};
  // A GPU's memory is not busy for longer than the GPU is.
  if (found.prediction && figures.gpu_util_pct && figures.gpu_memory_mib)
    found.prediction->use =
        GpuUse{*figures.gpu_util_pct, *figures.gpu_util_pct, *figures.gpu_memory_mib};
  return found;
}

AdviceSource source_in(std::string_view name) {
  using enum AdviceSource;
  for (const AdviceSource source : {resubmission, similar, user_history})
    if (name_of(source) == name) return source;
  return none;
}

}  // namespace

live::LogFound log_found(const Document& document) {
  const Document& file = part(document, "file");
  const auto figure = [&](const char* name) { return figure_in(part(document, name)); };
  Progress progress;
  progress.step = figure("step");
  progress.total_steps = figure("total_steps");
  progress.epoch = figure("epoch");
  progress.total_epochs = figure("total_epochs");
  progress.step_time_s = figure("step_time_s");
  progress.remaining_s = figure("remaining_s");
  progress.remaining_by = text_in(part(document, "remaining_by"));
  return {.step = progress.step,
          .total_steps = progress.total_steps,
          .loss = figure("loss"),
          .step_time_s = progress.step_time_s,
          .remaining_s = progress.remaining_s,
          .recent_step_s = figure("recent_step_time_s"),
          .file = count(part(file, "inode")),
          .bytes = count(part(file, "size")),
          .written = instant_in(part(file, "mtime_s")),
          .accounted_s = queue::accounted_s(progress)};
}

live::CauseFound cause_found(const Document& diagnosis) {
  const Document& verdict = part(diagnosis, "class");
  live::CauseFound found{.judged = verdict.is_string(),
                         .verdict = named(verdict, FailureClass::other),
                         .component = named(part(diagnosis, "component"), Component::other),
                         .recommendation = Recommendation::notify,
                         .reason = words(part(diagnosis, "reason")),
                         .advice = words(part(diagnosis, "advice")),
                         .fingerprint = words(part(diagnosis, "fingerprint")),
                         .document = diagnosis.is_object() ? in_one_line(diagnosis) : ""};
  if (const Document& word = part(diagnosis, "recommendation"); word.is_string())
    found.recommendation = named(word, Recommendation::notify);
  constexpr std::size_t most_nodes = 1000;
  if (const Document& nodes = part(diagnosis, "nodes"); nodes.is_array())
    for (const Document& node : nodes)
      if (node.is_string() && found.blamed.size() < most_nodes) found.blamed.push_back(words(node));
  return found;
}

live::CauseFound failure_found(const Document& failure) {
  live::CauseFound found = cause_found(part(failure, "diagnosis"));
  found.step = log_found(part(failure, "progress")).step;
  return found;
}

live::CodeFound code_found(const Advice& advice) {
  live::CodeFound found = code_found(advice.estimate.source, advice.estimate);
  found.gives_length = advice.answer.known();
  return found;
}

live::CodeFound code_found(const GivenAdvice& advice) {
  live::CodeFound found = code_found(source_in(advice.source), advice);
  found.gives_length = !advice.length || advice.length->told;
  return found;
}

}  // namespace schedmate::daemon
