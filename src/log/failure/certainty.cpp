// SPDX-License-Identifier: Apache-2.0
#include "log/failure/certainty.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace schedmate::embedded {
extern const std::string_view diagnosis_confidence_toml;
}  // namespace schedmate::embedded

namespace schedmate::failure {
namespace {

constexpr std::size_t most_judged = 16;  ///< rivals whose class is looked up

double log_of(std::uint64_t count) { return std::log1p(static_cast<double>(count)); }

/// Other lines that might be the cause, and what their classes would be.
void add_rivals(const VerdictGrounds& grounds, Features& made) {
  const FailureLine& root = *grounds.located.root;
  std::size_t rivals = 0;
  std::size_t judged = 0;
  std::size_t other_class = 0;
  std::uint64_t alike = root.count;
  for (const FailureLine& each : grounds.located.others) {
    if (each.hash == root.hash && each.role == root.role) {
      alike += each.count;
      continue;
    }
    if (each.role != LineRole::cause) continue;
    ++rivals;
    if (each.weight < root.weight || judged == most_judged) continue;
    ++judged;
    const auto verdict = grounds.rules.judge({each.text, each.text, RaisedIn::nowhere});
    other_class += verdict && verdict->verdict != grounds.verdict.verdict ? 1 : 0;
  }
  made["rivals"] = log_of(rivals);
  made["equal rivals"] = log_of(judged);
  made["rivals of another class"] = log_of(other_class);
  made["alike"] = log_of(alike);
}

}  // namespace

Features features_of(const VerdictGrounds& grounds) {
  const Located& located = grounds.located;
  const FailureLine& root = *located.root;
  const double rank = std::clamp(grounds.verdict.confidence, 0.02, 0.98);
  Features made;
  made["rank"] = std::log(rank / (1 - rank));
  made["weight"] = root.weight;
  made["cause"] = root.role == LineRole::cause ? 1 : 0;
  made["open"] = grounds.verdict.open ? 1 : 0;
  made["frames"] = log_of(grounds.frames);
  made["traceback"] = root.begins != root.line ? 1 : 0;
  made[fmt::format("raised:{}", name_of(grounds.raised))] = 1;
  made[fmt::format("class:{}", name_of(grounds.verdict.verdict))] = 1;
  made["behind"] = log_of(located.lines - std::min(root.line, located.lines));
  made["lines"] = log_of(located.lines);
  made["trained"] = located.progress > 0 ? 1 : 0;
  made["went on"] = log_of(located.progress - std::min(root.progress_before, located.progress));
  made["survived"] = log_of(located.survived);
  add_rivals(grounds, made);
  return made;
}

Features line_features(const Features& of_class) {
  Features made;
  for (const char* const name : {"weight", "cause", "rivals", "behind", "alike"})
    made[fmt::format("line:{}", name)] = of_class.find(name)->second;
  return made;
}

Features features_without_failure(const Located& located) {
  return {{"lines", log_of(located.lines)},
          {"progress", log_of(located.progress)},
          {"trained", located.progress > 0 ? 1.0 : 0.0},
          {"survived", log_of(located.survived)}};
}

const Confidence& diagnosis_confidence() {
  static const Confidence table = built_in_confidence(embedded::diagnosis_confidence_toml);
  return table;
}

}  // namespace schedmate::failure

namespace schedmate {

Result<Diagnosis> diagnose(const DiagnoseInput& given) {
  return failure::diagnose_with(given, failure::diagnosis_confidence());
}

void cut_below(double least, Diagnosis& made) {
  if (!made.judged) return;
  if (made.root_line && made.root_confidence < least) {
    made.root_file.clear();
    made.root_line.reset();
    made.first_error_line.reset();
  }
  if (made.confidence >= least) return;
  made.unsure = true;
  made.reason = fmt::format("less sure than --min-confidence {:.2f}: {}, {}", least,
                            name_of(made.verdict), made.reason);
  made.component = Component::none;
  made.nodes.clear();
  made.recommendation = Recommendation::notify;
  made.advice.clear();
}

double careful_diagnosis_confidence() { return failure::diagnosis_confidence().careful; }

}  // namespace schedmate
