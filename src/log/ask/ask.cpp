// SPDX-License-Identifier: Apache-2.0
#include "log/ask/ask.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "base/characters.hpp"
#include "base/text.hpp"

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

std::string how_far(const Progress& progress) {
  std::string text;
  if (progress.step) text = "step " + of_total(*progress.step, progress.total_steps);
  if (progress.epoch)
    text += fmt::format("{}epoch {}", text.empty() ? "" : ", ",
                        of_total(*progress.epoch, progress.total_epochs));
  if (progress.remaining_s) text += ", " + in_words(*progress.remaining_s) + " left";
  return text;
}

std::string loss(const Progress& progress) {
  if (!progress.loss) return "";
  std::string text;
  text = "loss " + number(*progress.loss);
  if (progress.step) text += " at step " + number(*progress.step);
  return text;
}

/// What `text_of` makes of the progress, with the line it stands on.
LogAnswer by_progress(const LogKnowledge& knowledge, std::string (*text_of)(const Progress&)) {
  const auto progress = knowledge.progress();
  if (!progress) return {};
  LogAnswer answer;
  answer.text = text_of(*progress);
  if (!answer.text.empty()) answer.lines = lines_with(knowledge.index, progress->evidence);
  return answer;
}

LogAnswer failure(const LogKnowledge& knowledge) {
  LogAnswer answer;
  const auto diagnosis = knowledge.diagnosis();
  if (!diagnosis) return answer;
  if (diagnosis->verdict == FailureClass::none) {
    answer.text = "no failure was found in this log";
    return answer;
  }
  answer.text = fmt::format("{}: {}", name_of(diagnosis->verdict), diagnosis->reason);
  for (const LogEvidence& each : diagnosis->evidence)
    if (each.role == LineRole::cause) answer.lines.push_back({each.line, each.text});
  return answer;
}

/// Lines that hold one of the words and, where wanted, a number.
LogAnswer mentions(const LogIndex& index, Names words, bool with_number) {
  LogAnswer answer;
  std::vector<const DistinctLine*> found;
  for (const DistinctLine& each : index.distinct_lines) {
    const bool numbered = each.last.text.find_first_of("0123456789") != std::string::npos;
    if ((numbered || !with_number) && has_any(lower_case(each.last.text), words))
      found.push_back(&each);
  }
  std::ranges::stable_sort(found, std::greater(),
                           [](const auto* each) { return each->last.number; });
  for (const DistinctLine* each : found) {
    if (answer.lines.size() == most_lines) break;
    answer.lines.push_back(each->last);
  }
  return answer;
}

LogAnswer checkpoints(const LogKnowledge& knowledge) {
  auto answer = mentions(knowledge.index,
                         {"checkpoint", "ckpt", "saving model", "saved model", "snapshot",
                          "save to", "saving to", "model saved", "saved to", "saving weights"},
                         false);
  std::erase_if(answer.lines, [](const IndexedLine& line) {
    return has_any(
        lower_case(line.text),
        {"loading", "load ", "loaded", "restor", "resum", "no checkpoint", "not found", "load_",
         "gradient_checkpoint", "gradient checkpoint", "activation_checkpoint"});
  });
  answer.text = answer.lines.empty() ? "no line says that a checkpoint was saved"
                                     : fmt::format("the last line about a saved checkpoint is {}",
                                                   answer.lines.front().number);
  return answer;
}

LogAnswer memory(const LogKnowledge& knowledge) {
  return mentions(knowledge.index,
                  {"memory", " mem", "max_mem", "gib", "gpu_mem", "vram", "mem:", "mem="}, true);
}

LogAnswer settings(std::string_view question, const LogKnowledge& knowledge) {
  LogAnswer answer;
  for (auto& line : best_lines(question, knowledge.index, 4 * most_lines))
    if (line.text.find_first_of(":=") != std::string::npos && answer.lines.size() < most_lines)
      answer.lines.push_back(std::move(line));
  return answer;
}

LogAnswer one(std::string_view question, const LogKnowledge& knowledge) {
  const auto asked = lower_case(question);
  const auto by = [](LogAnswer answer, std::string_view name) {
    answer.by = name;
    return answer;
  };
  if (has_any(asked, {"why", "fail", "error", "crash", "die", "stop", "wrong", "killed"}))
    return by(failure(knowledge), "failure");
  if (has_any(asked, {"checkpoint", "ckpt", "save", "snapshot"}))
    return by(checkpoints(knowledge), "checkpoint");
  if (has_any(asked, {"batch size", "learning rate", "argument", "setting", "config", "hyperparam",
                      "optimizer", "which model", "what model", "seed", "parameter"}))
    return by(settings(question, knowledge), "settings");
  if (has_any(asked, {"fast", "speed", "slow", "throughput", "step time", "per second", "it/s"}))
    return by(by_progress(knowledge, speed), "speed");
  if (has_any(asked, {"loss", "converg"})) return by(by_progress(knowledge, loss), "loss");
  if (has_any(asked, {"memory", "vram"})) return by(memory(knowledge), "memory");
  if (has_any(asked, {"how far", "progress", "epoch", "remain", "left", "eta", "finish", "done",
                      "how long", "step"}))
    return by(by_progress(knowledge, how_far), "progress");
  return {};
}

}  // namespace

std::vector<LogAnswer> answer(std::string_view text, const LogKnowledge& knowledge) {
  std::vector<LogAnswer> answers;
  for (const auto part : split(text, '?')) {
    const auto question = trim(part);
    if (question.empty() || answers.size() == most_questions) continue;
    LogAnswer found = one(question, knowledge);
    if (found.text.empty() && found.lines.empty())
      found = {"", "", best_lines(question, knowledge.index, most_lines), "words"};
    if (found.text.empty() && found.lines.empty())
      found.text = "no line of the log matches the question";
    found.question = question;
    answers.push_back(std::move(found));
  }
  return answers;
}

// The lines that fit a question best: BM25 (Robertson and Zaragoza 2009) over the distinct lines.

namespace {

/// Words of a question that say nothing about a line.
bool is_common(std::string_view word) {
  constexpr std::array<std::string_view, 44> common = {
      "the", "is",   "it",   "a",    "an",    "of",    "to",   "in",   "on",   "did", "does",
      "do",  "was",  "were", "are",  "what",  "which", "how",  "why",  "when", "who", "where",
      "has", "have", "had",  "this", "that",  "for",   "with", "and",  "or",   "be",  "its",
      "at",  "my",   "job",  "log",  "there", "any",   "much", "many", "used", "use", "run"};
  return std::ranges::find(common, word) != common.end();
}

/// Lower-case words; a plural and a past tense meet their stem half-way.
std::vector<std::string> stems_of(std::string_view text) {
  std::vector<std::string> words(1);
  for (const char c : text) {
    const bool letter = is_letter(c) || is_digit(c) || static_cast<unsigned char>(c) >= 0x80;
    if (letter)
      words.back() += lower(c);
    else if (!words.back().empty())
      words.emplace_back();
  }
  for (std::string& word : words) {
    if (word.size() > 4 && word.ends_with("s")) word.pop_back();
    if (word.size() > 5 && word.ends_with("ed")) word.resize(word.size() - 2);
    if (word.size() > 6 && word.ends_with("ing")) word.resize(word.size() - 3);
  }
  std::erase_if(words, [](const std::string& word) { return word.empty(); });
  return words;
}

}  // namespace

std::vector<IndexedLine> best_lines(std::string_view question, const LogIndex& index,
                                    std::size_t count) {
  constexpr double k1 = 1.2;
  constexpr double b = 0.5;
  auto asked = stems_of(question);
  std::erase_if(asked, [](const std::string& word) { return is_common(word); });
  std::vector<std::map<std::string, int>> found(index.distinct_lines.size());
  std::map<std::string, double> lines_with;
  double length = 0;
  std::vector<double> lengths;
  for (std::size_t i = 0; i < index.distinct_lines.size(); ++i) {
    const auto words = stems_of(index.distinct_lines[i].last.text);
    lengths.push_back(static_cast<double>(words.size()));
    length += lengths.back();
    for (const auto& word : words)
      if (std::ranges::find(asked, word) != asked.end() && ++found[i][word] == 1)
        lines_with[word] += 1;
  }
  const auto total = static_cast<double>(index.distinct_lines.size());
  const double usual = std::max(1.0, length / std::max(1.0, total));
  std::vector<std::pair<double, std::size_t>> scored;
  for (std::size_t i = 0; i < found.size(); ++i) {
    double score = 0;
    for (const auto& [word, times] : found[i]) {
      const double rarity =
          std::log(1 + (total - lines_with[word] + 0.5) / (lines_with[word] + 0.5));
      score += rarity * times * (k1 + 1) / (times + k1 * (1 - b + b * lengths[i] / usual));
    }
    if (score > 0) scored.emplace_back(-score, i);
  }
  std::ranges::stable_sort(scored, {}, &std::pair<double, std::size_t>::first);
  std::vector<IndexedLine> best;
  for (const auto& [score, i] : scored) {
    if (best.size() == count) break;
    best.push_back(index.distinct_lines[i].last);
  }
  return best;
}

}  // namespace schedmate::ask
