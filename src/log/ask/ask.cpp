// SPDX-License-Identifier: Apache-2.0
#include "log/ask/ask.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.hpp"
#include "log/ask/saved_lines.hpp"
#include "log/ask/topic.hpp"

namespace schedmate::ask {
namespace {

constexpr std::size_t most_lines = 8;
constexpr std::size_t most_questions = 16;

using Names = std::initializer_list<std::string_view>;

bool has_any(std::string_view text, Names names) {
  return std::ranges::any_of(names, [&](auto name) { return text.contains(name); });
}

std::string number(double value) { return fmt::format("{:.6g}", value); }

std::string of_total(double value, const std::optional<double>& total) {
  return total ? fmt::format("{} of {}", number(value), number(*total)) : number(value);
}

/// The distinct line that holds a text which a reader has shortened.
std::vector<IndexedLine> lines_with(const LogIndex& index, const std::vector<std::string>& texts) {
  std::vector<IndexedLine> lines;
  for (const auto& text : texts)
    for (const DistinctLine& each : index.distinct_lines)
      if (!text.empty() && each.last.text.contains(std::string_view(text).substr(0, 120))) {
        lines.push_back(each.last);
        break;
      }
  return lines;
}

std::string in_words(double seconds) {
  if (seconds < 120) return fmt::format("{:.3g} s", seconds);
  if (seconds < 7200) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

std::string speed(const Progress& progress) {
  std::string text;
  if (progress.step_time_s)
    text = fmt::format("{} s a step ({})", number(*progress.step_time_s), progress.by);
  if (progress.throughput)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", number(progress.throughput->value),
                        progress.throughput->unit);
  return text;
}

std::string place(const Progress& progress) {
  std::string text;
  if (progress.step) text = "step " + of_total(*progress.step, progress.total_steps);
  if (progress.epoch)
    text += fmt::format("{}epoch {}", text.empty() ? "" : ", ",
                        of_total(*progress.epoch, progress.total_epochs));
  return text;
}

std::string time_left(const Progress& progress) {
  if (!progress.remaining_s) return "";
  const auto how = progress.remaining_by.empty() ? "" : fmt::format(" ({})", progress.remaining_by);
  return in_words(*progress.remaining_s) + " left" + how;
}

std::string how_far(const Progress& progress) {
  auto text = place(progress);
  if (const auto left = time_left(progress); !left.empty())
    text += (text.empty() ? "" : ", ") + left;
  return text;
}

std::string loss(const Progress& progress) {
  if (!progress.loss) return "";
  std::string text = "loss " + number(*progress.loss);
  if (progress.step) text += " at step " + number(*progress.step);
  return text;
}

/// Answers the questions about one log. Progress and diagnosis are made once.
class Answerer {
 public:
  explicit Answerer(const LogKnowledge& knowledge) : knowledge_(knowledge) {}

  LogAnswer one(std::string_view question) {
    switch (topic_of(question, knowledge_.job ? knowledge_.job->job_id : "")) {
      case Topic::other_job:
        return no_question(
            "this log is of one job alone; a job id in the place of the log asks "
            "about that job, schedmate history list shows all (" +
            first_words(question) + ")");
      case Topic::restart:
        return named(restart(), "restart");
      case Topic::node:
        return named(node(question), "node");
      case Topic::hang:
        return named(hang(), "hang");
      case Topic::checkpoint:
        return named(checkpoints(), "checkpoint");
      case Topic::failure:
        return named(failure(), "failure");
      case Topic::when:
        return named(when(), "progress");
      case Topic::done:
        return named(done(), "done");
      case Topic::settings:
        return named(settings(question), "settings");
      case Topic::speed:
        return named(by_progress(speed), "speed");
      case Topic::loss:
        return named(losses(), "loss");
      case Topic::memory:
        return named(
            mentions({"memory", " mem", "max_mem", "gib", "gpu_mem", "vram", "mem:", "mem="}),
            "memory");
      case Topic::progress:
        return named(by_progress(how_far), "progress");
      case Topic::words:
        break;
    }
    return {};
  }

  static LogAnswer no_question(const std::string& why) {
    return {"", "not a question for this log: " + why, {}, "none", false};
  }

 private:
  static LogAnswer named(LogAnswer answer, std::string_view name) {
    answer.by = name;
    return answer;
  }

  static std::string first_words(std::string_view question) {
    constexpr std::size_t most = 60;
    return std::string(question.substr(0, most));
  }

  const std::optional<Progress>& progress() {
    if (!progress_) progress_ = knowledge_.progress();
    return *progress_;
  }
  const std::optional<Diagnosis>& diagnosis() {
    if (!diagnosis_) diagnosis_ = knowledge_.diagnosis();
    return *diagnosis_;
  }
  /// Nothing where the log shows none.
  const Diagnosis* found_failure() {
    const auto& made = diagnosis();
    return made && made->verdict != FailureClass::none ? &*made : nullptr;
  }

  /// What a function makes of the progress, with the line it stands on.
  LogAnswer by_progress(std::string (*text_of)(const Progress&)) {
    LogAnswer answer;
    if (!progress()) return answer;
    answer.text = text_of(*progress());
    if (!answer.text.empty()) answer.lines = lines_with(knowledge_.index, progress()->evidence);
    return answer;
  }

  static std::string in_short(const Diagnosis& made) {
    return fmt::format("{}: {}", name_of(made.verdict), made.reason);
  }

  static LogAnswer of_failure(std::string text, const Diagnosis& made) {
    LogAnswer answer{"", std::move(text), {}, ""};
    for (const LogEvidence& each : made.evidence)
      if (each.role == LineRole::cause && answer.lines.size() < most_lines)
        answer.lines.push_back({each.line, each.text});
    return answer;
  }

  /// Where found_failure() is none, and what follows from that. A log that could not be judged
  /// proves nothing.
  LogAnswer no_failure(std::string_view so) {
    if (!diagnosis()) return {};
    if (!diagnosis()->judged) return {"", "not known: " + diagnosis()->reason, {}, ""};
    return {"", fmt::format("no failure was found in this log{}", so), {}, ""};
  }

  LogAnswer failure() {
    if (const Diagnosis* made = found_failure()) return of_failure(in_short(*made), *made);
    return no_failure("");
  }

  LogAnswer restart() {
    const Diagnosis* made = found_failure();
    if (made == nullptr) return no_failure(", so nothing asks for a restart");
    const auto text = fmt::format("{}{}{} ({})", advice_of(*made), made->advice.empty() ? "" : ": ",
                                  made->advice, in_short(*made));
    return of_failure(text, *made);
  }

  static std::string advice_of(const Diagnosis& made) {
    switch (made.recommendation) {
      case Recommendation::restart_same:
        return "yes, as it is";
      case Recommendation::restart_elsewhere:
        return made.nodes.empty()
                   ? "yes, elsewhere"
                   : fmt::format("yes, elsewhere than on {}", fmt::join(made.nodes, " "));
      case Recommendation::do_not_restart:
        return "no, not as it is";
      case Recommendation::test_first:
        return "test first";
      case Recommendation::notify:
        break;
    }
    return "not before somebody has looked at it";
  }

  /// Only nodes of the allocation are ever named.
  LogAnswer node(std::string_view question) {
    const bool where = has_any(lower_case(question), {"where", "run on", "running on", "runs on"});
    const auto& job = knowledge_.job;
    if (where && job && !job->nodes.empty())
      return {"", fmt::format("it was given {}", fmt::join(job->nodes, " ")), {}, ""};
    const Diagnosis* made = found_failure();
    if (made == nullptr) return no_failure(", so no node is to blame");
    if (!made->nodes.empty())
      return of_failure(fmt::format("{} ({})", fmt::join(made->nodes, " "), in_short(*made)),
                        *made);
    const bool machine = made->verdict == FailureClass::infrastructure;
    return of_failure(
        fmt::format("no node is known to be at fault ({}){}", in_short(*made),
                    machine ? "; a log alone names none: give --job FILE, and to schedmate "
                              "diagnose a --kernel-log, too"
                            : ""),
        *made);
  }

  /// Lines that end a training run in the words of its framework.
  LogAnswer closing() {
    LogAnswer answer;
    for (const DistinctLine& each : knowledge_.index.distinct_lines) {
      const auto text = lower_case(each.last.text);
      if (!is_source_code(each.last.text) &&
          has_any(text, {"train_runtime", "training complete", "training finished",
                         "finished training", "training done", "done training", "training is done",
                         "training has finished", "`trainer.fit` stopped"}))
        answer.lines = {each.last};
    }
    return answer;
  }

  bool is_at_end(const LogAnswer& closing) {
    const auto& at = progress();
    if (!closing.lines.empty()) return true;
    if (!at || !at->step || !at->total_steps || *at->step < *at->total_steps) return false;
    return at->remaining_s ? *at->remaining_s <= 0 : !at->epoch;
  }

  LogAnswer ended(const Diagnosis& made, std::string_view verb) {
    auto text = fmt::format("{}it has ended: {}", verb, in_short(made));
    if (const auto at = progress() ? place(*progress()) : ""; !at.empty())
      text += fmt::format("; it was at {}", at);
    return of_failure(text, made);
  }

  LogAnswer when() {
    if (const Diagnosis* made = found_failure()) return ended(*made, "");
    auto answer = closing();
    if (is_at_end(answer)) {
      answer.text = "it is at its end";
      if (progress() && !place(*progress()).empty()) answer.text += ": " + place(*progress());
      return answer;
    }
    answer = by_progress(how_far);
    if (!progress() || !progress()->remaining_s)
      answer.text = "the log does not say how long it will take" +
                    (answer.text.empty() ? "" : "; it is at " + answer.text);
    return answer;
  }

  LogAnswer done() {
    if (const Diagnosis* made = found_failure()) return ended(*made, "no, ");
    auto answer = closing();
    const bool end = is_at_end(answer);
    const auto at = progress() ? how_far(*progress()) : "";
    if (!end) answer = by_progress(how_far);
    if (end)
      answer.text = "yes" + (at.empty() ? "" : ": " + at);
    else
      answer.text = at.empty() ? "the log does not say" : "not yet: " + at;
    return answer;
  }

  LogAnswer hang() {
    if (const Diagnosis* made = found_failure()) {
      auto line = lower_case(made->reason);
      for (const LogEvidence& each : made->evidence)
        if (each.role == LineRole::cause) line += " " + lower_case(each.text);
      const bool hung =
          has_any(line, {"watchdog", "timed out", "timeout", "hang", "hung", "stuck", "deadlock"});
      return hung ? of_failure("yes, it hung: " + in_short(*made), *made) : ended(*made, "no, ");
    }
    auto answer = closing();
    if (is_at_end(answer)) {
      answer.text = "no, it is at its end";
      return answer;
    }
    answer = by_progress(how_far);
    const auto silent = knowledge_.silent_s;
    if (!silent) {
      answer.text =
          "the log alone does not tell; " +
          (answer.text.empty() ? "it reports no progress" : "its last report: " + answer.text);
      return answer;
    }
    constexpr double usual = 600;
    const double step = progress() && progress()->step_time_s ? *progress()->step_time_s : 0;
    const bool quiet = *silent > std::max(usual, 100 * step);
    answer.text = fmt::format("{}: the log was last written to {} ago{}{}",
                              quiet ? "it may be" : "no sign of it", in_words(*silent),
                              answer.text.empty() ? "" : ", at ", answer.text);
    return answer;
  }

  LogAnswer losses() {
    auto answer = by_progress(loss);
    if (answer.text.empty()) {  // "loss: nan"
      answer = mentions({"loss"});
      if (!answer.lines.empty() && has_any(lower_case(answer.lines.front().text), {"nan", "inf"}))
        answer.text = fmt::format("the loss is no number (nan or inf) at line {}",
                                  answer.lines.front().number);
    }
    return answer;
  }

  /// Lines that hold one of the words and a value, the newest first.
  LogAnswer mentions(Names words) {
    std::vector<const DistinctLine*> found;
    for (const DistinctLine& each : knowledge_.index.distinct_lines) {
      const auto text = lower_case(each.last.text);
      const bool value = text.find_first_of("0123456789") != std::string::npos;
      if (value && has_any(text, words) && !is_source_code(each.last.text)) found.push_back(&each);
    }
    return newest(std::move(found));
  }

  static LogAnswer newest(std::vector<const DistinctLine*> found) {
    std::ranges::stable_sort(found, std::greater(),
                             [](const auto* each) { return each->last.number; });
    LogAnswer answer;
    for (const DistinctLine* each : found)
      if (answer.lines.size() < most_lines) answer.lines.push_back(each->last);
    return answer;
  }

  LogAnswer checkpoints() {
    std::vector<const DistinctLine*> found;
    for (const DistinctLine& each : knowledge_.index.distinct_lines)
      if (says_saved(each.last.text)) found.push_back(&each);
    auto answer = newest(std::move(found));
    if (answer.lines.empty()) {
      answer.text = "no line says that a checkpoint was saved";
      return answer;
    }
    const auto path = path_in(answer.lines.front().text);
    answer.text = fmt::format("the last line about a saved checkpoint is {}{}{}",
                              answer.lines.front().number, path.empty() ? "" : ": ", path);
    return answer;
  }

  LogAnswer settings(std::string_view question) {
    LogAnswer answer;
    for (auto& line : best_lines(question, knowledge_.index, 4 * most_lines))
      if (line.text.find_first_of(":=") != std::string::npos && answer.lines.size() < most_lines)
        answer.lines.push_back(std::move(line));
    return answer;
  }

  const LogKnowledge& knowledge_;
  std::optional<std::optional<Progress>> progress_;
  std::optional<std::optional<Diagnosis>> diagnosis_;
};

}  // namespace

std::vector<LogAnswer> answer(std::string_view text, const LogKnowledge& knowledge) {
  std::vector<LogAnswer> answers;
  Answerer answerer(knowledge);
  for (const auto part : split(text, '?')) {
    const auto question = trim(part);
    if (question.empty() || answers.size() == most_questions) continue;
    LogAnswer found = answerer.one(question);
    if (found.text.empty() && found.lines.empty()) {
      found = {"", "", best_lines(question, knowledge.index, most_lines), "words"};
      if (!covers(question, knowledge.index))
        found = Answerer::no_question("no line of it has the words of the question");
    }
    found.question = question;
    answers.push_back(std::move(found));
  }
  return answers;
}

}  // namespace schedmate::ask
