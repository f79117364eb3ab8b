// SPDX-License-Identifier: Apache-2.0

/// From the logs of a job to a verdict: locate the line, read around it, let the rules decide,
/// consult the witnesses.

#include <fmt/format.h>

#include <algorithm>
#include <schedmate/diagnosis.hpp>

#include "base/text.hpp"
#include "log/failure/certainty.hpp"
#include "log/failure/failure_rules.hpp"
#include "log/failure/good_run.hpp"
#include "log/failure/hang.hpp"
#include "log/failure/locate.hpp"
#include "log/failure/log_fault.hpp"
#include "log/failure/open_cause.hpp"
#include "log/failure/recommend.hpp"
#include "log/lines/lines.hpp"

namespace schedmate {
namespace {

constexpr std::uint64_t most_trace_lines = 400;  ///< lines of a traceback that are read
constexpr std::uint64_t lines_behind = 10;
constexpr std::size_t most_evidence = 12;
constexpr std::size_t most_new = 20;
constexpr std::string_view by_model = "/model";

/// The lines around the root: its traceback, and what was said right after it.
struct LinesAround {
  std::vector<std::string> lines;  ///< owns what the frames show
  std::vector<failure::Frame> frames;
  failure::RaisedIn raised = failure::RaisedIn::nowhere;
  std::string context;
};

Result<LinesAround> read_around(const ForeignPath& path, const failure::FailureLine& root) {
  LinesAround around;
  const auto floor = root.line > most_trace_lines ? root.line - most_trace_lines : 1;
  const auto from = std::max(root.begins > 1 ? root.begins - 1 : 1, floor);
  std::string scratch;
  const auto take = [&](const lines::Line& line) {
    around.lines.emplace_back(lines::without_escapes(line.text.substr(0, 2000), scratch));
    return line.number < root.line + lines_behind;
  };
  const auto done = lines::each_line(path, take, from);
  if (!done && around.lines.empty()) return tl::unexpected(done.error());
  for (std::size_t i = 0; i < around.lines.size(); ++i) {
    around.context.append(around.lines[i]).append("\n");
    if (from + i >= root.line) continue;
    const lines::PrefixedLine line = lines::read_prefixes(around.lines[i]);
    if (root.rank >= 0 && line.rank >= 0 && line.rank != root.rank) continue;
    if (const auto frame = failure::read_frame(around.lines[i])) around.frames.push_back(*frame);
  }
  around.raised = failure::raised_in(around.frames);
  return around;
}

/// Equal for the same failure of another job: no numbers, no paths but the last part.
std::string fingerprint_of(const Diagnosis& made, const failure::FailureLine& root,
                           const LinesAround& around) {
  constexpr std::size_t top = 3;
  std::string text(name_of(made.verdict));
  text += fmt::format("|{}", lines::template_of(lines::read_prefixes(root.text).body));
  for (std::size_t i = around.frames.size(); i > 0 && i + top > around.frames.size(); --i) {
    const failure::Frame& frame = around.frames[i - 1];
    text += fmt::format("|{}:{}", frame.file.substr(frame.file.find_last_of("/\\") + 1),
                        frame.function);
  }
  return fmt::format("{:016x}", lines::template_hash(text));
}

/// The root and what belongs to it; lines of one template are one, with how many there are.
void add_evidence(const failure::Located& located, std::span<const std::string> paths,
                  Diagnosis& made) {
  std::vector<std::pair<std::uint64_t, LineRole>> kinds;
  const auto add = [&](const failure::FailureLine& line, LineRole role) {
    const auto known = std::ranges::find(kinds, std::pair(line.hash, role));
    if (known != kinds.end() && line.hash != 0) {
      made.evidence[static_cast<std::size_t>(known - kinds.begin())].count += line.count;
    } else if (made.evidence.size() < most_evidence) {
      kinds.emplace_back(line.hash, role);
      made.evidence.push_back({paths[line.file], line.line, line.text, role, line.count});
    }
  };
  add(*located.root, LineRole::cause);
  for (const failure::FailureLine& each : located.others) {
    const bool like_root = each.hash == located.root->hash && each.role == located.root->role;
    if (like_root)
      add(each, LineRole::cause);
    else
      add(each, each.role == LineRole::cause ? LineRole::cascade : each.role);
  }
}

lines::FailureVerdict verdict_of(const failure::FailureRules& rules,
                                 const failure::FailureLine& root, const LinesAround& around) {
  const failure::FailureCase what{root.text, around.context, around.raised};
  if (auto found = rules.judge(what)) return *std::move(found);
  return {.rule = "no rule",
          .verdict = FailureClass::other,
          .component = Component::none,
          .reason = "no rule matches this line",
          .advice = "read the line",
          .recommendation = Recommendation::notify,
          .confidence = 0.2,
          .open = true};
}

void put(const lines::FailureVerdict& verdict, Diagnosis& made) {
  made.verdict = verdict.verdict;
  made.component = verdict.component;
  made.reason = verdict.reason;
  made.recommendation = verdict.recommendation;
  made.advice = verdict.advice;
  made.confidence = verdict.confidence;
  made.by += "/" + verdict.rule;
}

/// What the logs are judged with.
struct DiagnosisTools {
  const DiagnoseInput& input;
  const failure::FailureRules& rules;
  failure::LineKinds& kinds;
  const Confidence& confidence;
};

Result<failure::CauseLine> fill(const failure::Located& located, const DiagnosisTools& tools,
                                Diagnosis& made) {
  const DiagnoseInput& input = tools.input;
  const failure::FailureLine& root = *located.root;
  const auto around = read_around({input.paths[root.file], input.access}, root);
  if (!around) return tl::unexpected(around.error());
  lines::FailureVerdict verdict = verdict_of(tools.rules, root, *around);
  const auto seen =
      failure::features_of({located, tools.rules, verdict, around->raised, around->frames.size()});
  made.doubtful = verdict.confidence < input.doubtful_below;
  verdict.confidence = tools.confidence.probability(failure::class_answer, seen);
  made.root_confidence =
      tools.confidence.probability(failure::line_answer, failure::line_features(seen));
  if (input.reader && made.doubtful) {
    const failure::OpenFailure open{input, tools.kinds, input.paths[root.file], root.line,
                                    around->raised};
    auto model_cause = failure::read_open_cause(open, made.dropped);
    if (!model_cause) return tl::unexpected(model_cause.error());
    if (*model_cause) verdict = (*std::move(model_cause))->verdict;
  }
  if (auto done = failure::name_hang({input.paths[root.file], input.access}, root, verdict); !done)
    return tl::unexpected(done.error());
  put(verdict, made);
  made.root_file = input.paths[root.file];
  made.root_line = root.line;
  made.first_error_line = root.begins;
  add_evidence(located, input.paths, made);
  made.fingerprint = fingerprint_of(made, root, *around);
  return failure::CauseLine{root.text, root.rank, verdict.open};
}

/// A model's word gives up no machine and names none; a witness may.
void restrain_model(Diagnosis& made) {
  if (!made.by.ends_with(by_model)) return;
  made.nodes.clear();
  if (made.recommendation == Recommendation::restart_elsewhere)
    made.recommendation = Recommendation::test_first;
}

/// The log shows no failure, but the scheduler says that the job failed.
Result<void> fill_unseen(const DiagnosisTools& tools, Diagnosis& made) {
  const auto& job = tools.input.job;
  const bool failed = job && (job->state.starts_with("FAILED") ||
                              (!job->exit_code.empty() && !job->exit_code.starts_with("0")));
  if (!failed || !tools.input.reader || made.verdict != FailureClass::none) return {};
  if (tools.input.paths.empty()) return {};
  const std::string& path = tools.input.paths.back();
  auto model_cause = failure::read_open_cause({tools.input, tools.kinds, path, {}}, made.dropped);
  if (!model_cause) return tl::unexpected(model_cause.error());
  if (!*model_cause) return {};
  put((*model_cause)->verdict, made);
  made.root_confidence = made.confidence;
  made.root_file = path;
  made.root_line = made.first_error_line = (*model_cause)->line;
  made.evidence.push_back({path, (*model_cause)->line, (*model_cause)->text, LineRole::cause});
  return {};
}

/// The logs with text in them; of the others `made` says what is wrong.
Result<std::vector<std::string>> readable(const DiagnoseInput& given, Diagnosis& made) {
  std::vector<std::string> good;
  for (const std::string& path : given.paths) {
    const auto fault = failure::fault_of_log({path, given.access});
    if (!fault) return tl::unexpected(fault.error());
    if (fault->empty())
      good.push_back(path);
    else
      made.unread.push_back(fmt::format("{}: {}", path, *fault));
  }
  return good;
}

/// A log that has nothing to say, or not all of it, is not that of a job that went well.
Result<void> see_what_was_read(const DiagnoseInput& input, bool cut_short, Diagnosis& made) {
  if (made.verdict != FailureClass::none) return {};
  for (const std::string& path : input.paths) {
    const auto stops = failure::stops_within_line({path, input.access});
    if (!stops) return tl::unexpected(stops.error());
    if (!*stops) continue;
    cut_short = true;
    made.unread.push_back(path + ": its last line is cut off");
  }
  const bool any = !input.paths.empty();
  if (any && !cut_short) return {};
  made.judged = false;
  made.confidence = 0;
  made.reason = fmt::format("{}{}", fmt::join(made.unread, "; "),
                            any ? "; what could be read shows no failure" : "");
  return {};
}

Result<failure::ClassifyLine> classifier_of(const DiagnoseInput& input,
                                            std::optional<Error>& fault) {
  const auto row = failure::find_classifier(input.classifier);
  if (!row) return tl::unexpected(row.error());
  return (*row)->make(
      {.rules = input.rules, .embedder = input.embedder, .report = [&fault](const Error& error) {
         if (!fault) fault = error;
       }});
}

void clean_texts(const DiagnoseInput& input, Diagnosis& made) {
  constexpr std::size_t most_text = 400;
  for (auto* list : {&made.evidence, &made.unseen}) {
    for (LogEvidence& each : *list) {
      if (input.clean) each.text = input.clean(each.text);
      if (each.text.size() > most_text) each.text.resize(most_text);
    }
  }
  if (!input.clean) return;
  made.reason = input.clean(made.reason);  // it may cite the line that was last seen
  for (Witness& witness : made.witnesses) {
    witness.says = input.clean(witness.says);
    for (WitnessEvent& each : witness.events) each.text = input.clean(each.text);
  }
}

}  // namespace

Result<Diagnosis> failure::diagnose_with(const DiagnoseInput& given, const Confidence& confidence) {
  if (given.paths.empty()) return fail(ErrorCode::unsupported, "diagnose: a log is missing");
  DiagnoseInput input = given;
  const auto locator = failure::find_locator(input.locator);
  if (!locator) return tl::unexpected(locator.error());
  std::optional<Error> fault;  // of a classifier that asks a server
  auto classify = classifier_of(input, fault);
  if (!classify) return tl::unexpected(classify.error());
  const auto rules = failure::FailureRules::load(input.rules);
  if (!rules) return tl::unexpected(rules.error());
  Diagnosis made;
  auto good = readable(given, made);
  if (!good) return tl::unexpected(good.error());
  input.paths = *std::move(good);
  failure::KnownTemplates known;
  if (!input.good.empty())
    if (auto done = failure::add_templates({input.good, input.access}, known); !done)
      return tl::unexpected(done.error());
  failure::LineKinds kinds(*std::move(classify));
  const auto located =
      (*locator)->locate({input.paths, kinds, input.good.empty() ? nullptr : &known, input.access});
  if (!located) return tl::unexpected(located.error());
  if (fault) return tl::unexpected(*fault);
  for (const Error& each : located->cut_short) made.unread.push_back(each.message);
  made.by = std::string((*locator)->name);
  made.reason = "no failure in the log";
  made.gpus = input.gpus;
  const DiagnosisTools tools{input, *rules, kinds, confidence};
  failure::CauseLine line;
  if (located->root) {
    auto filled = fill(*located, tools, made);
    if (!filled) return tl::unexpected(filled.error());
    line = *filled;
  } else {
    made.confidence = confidence.probability(failure::healthy_answer,
                                             failure::features_without_failure(*located));
  }
  const witness::WitnessCase what{input.job,     input.kernel_logs, input.gpus,
                                  rules->xids(), input.rules,       input.access};
  if (auto done = failure::consult_witnesses(what, line, made); !done)
    return tl::unexpected(done.error());
  if (auto done = fill_unseen(tools, made); !done) return tl::unexpected(done.error());
  restrain_model(made);
  if (auto done = see_what_was_read(input, !located->cut_short.empty(), made); !done)
    return tl::unexpected(done.error());
  if (!input.good.empty() && !input.paths.empty()) {
    auto unseen = failure::new_lines(
        {made.root_file.empty() ? input.paths.front() : made.root_file, input.access}, known,
        most_new);
    if (!unseen) return tl::unexpected(unseen.error());
    made.unseen = *std::move(unseen);
  }
  clean_texts(input, made);
  return made;
}

}  // namespace schedmate
