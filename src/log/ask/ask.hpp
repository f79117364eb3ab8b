// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Questions about a log, answered with lines (paper 3.2, Query Engine). The common ones (speed,
/// progress, loss, memory, checkpoints, failure, settings) have a direct answer; any other gets the
/// lines that fit its words best.

#include <functional>
#include <optional>
#include <schedmate/diagnosis.hpp>
#include <schedmate/progress.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "log/ask/log_index.hpp"

namespace schedmate::ask {

struct LogAnswer {
  std::string question;
  std::string text;                ///< "" where only lines can be given
  std::vector<IndexedLine> lines;  ///< the best first
  std::string by;                  ///< "speed", "failure", ..., "words", or "none"
  bool answered = true;            ///< false: no log of this job can answer it
};

/// What is known of a log beside its lines; each is made when a question needs it.
struct LogKnowledge {
  const LogIndex& index;
  std::function<std::optional<Progress>()> progress;
  std::function<std::optional<Diagnosis>()> diagnosis;
  std::optional<JobContext> job{};   ///< whose log it is
  std::optional<double> silent_s{};  ///< since it was last written to; empty: nobody knows
};

/// One answer for each question of the text ("how fast is it? did it save?").
[[nodiscard]] std::vector<LogAnswer> answer(std::string_view text, const LogKnowledge& knowledge);

/// The lines that fit the words of a question best, at most `count`.
[[nodiscard]] std::vector<IndexedLine> best_lines(std::string_view question, const LogIndex& index,
                                                  std::size_t count);
/// Some line has at least half of the words that a question is about.
[[nodiscard]] bool covers(std::string_view question, const LogIndex& index);

}  // namespace schedmate::ask
