// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Progress from lines as they come, in bounded memory (paper 3.2, Metric Tracker).

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <schedmate/progress.hpp>
#include <string>
#include <string_view>
#include <unordered_set>

#include "base/confidence.hpp"
#include "log/progress/columns.hpp"
#include "log/progress/reading.hpp"
#include "log/progress/series.hpp"
#include "log/progress/shapes.hpp"
#include "log/progress/unknown_shapes.hpp"

namespace schedmate::progress {

class ProgressTracker {
 public:
  /// The words must outlive the tracker. `unknown` keeps the lines that they do not explain;
  /// without it there are no questions.
  explicit ProgressTracker(const LogWords& words = LogWords::built_in(),
                           std::optional<UnknownShapes> unknown = std::nullopt)
      : words_(words), unknown_(std::move(unknown)) {}

  /// One raw line, without its end.
  void add(std::string_view line);
  [[nodiscard]] Progress now() const;
  /// See UnknownShapes, for what is open now.
  [[nodiscard]] std::optional<LineShape> open_question() const;
  std::optional<CheckedMeaning> answer(std::uint64_t hash, const std::optional<LineMeaning>& given);
  /// What is added from now on arrives at this instant.
  void arrives_at(double now_s) { arrival_s_ = now_s; }
  enum class Clock : std::uint8_t { stamps, arrival };
  /// Of the main counter, oldest first.
  [[nodiscard]] std::vector<Report> reports(Clock clock) const;
  /// Seconds until the end of the run, and how they follow.
  struct LeftTime {
    double seconds = 0;
    std::string by;
  };
  /// What speaks for the values of now() and against, by their names in progress_json.
  [[nodiscard]] std::map<std::string, Features> grounds() const;
  /// Training progress lines so far.
  [[nodiscard]] std::uint64_t lines() const { return lines_; }

 private:
  static constexpr std::size_t most_samples = 400;  ///< of one counter

  /// The reports of one counter.
  struct Counter {
    std::deque<StepSample> samples;
    Reading last;
    bool has_loss = false;
    bool near_loss = false;    ///< a loss without a counter followed one of its lines
    bool in_epoch = false;     ///< it was seen to restart in an epoch
    bool over_epochs = false;  ///< it was seen to go on
    std::uint64_t newest = 0;  ///< number of its last line
    double total_seen = 0;     ///< the last that was printed
    std::string text;
  };

  /// A line, and the lines of one number each that follow it: tables print a report that way.
  struct Block {
    std::string text, whole;
    lines::PrefixedLine line;
    Reading reading;
    std::vector<std::string> keys;
    std::size_t lines = 0;
  };

  void add_state(std::string_view state);
  void add_line(const lines::PrefixedLine& line);
  void see_heading(std::string_view body);
  bool add_to_block(const lines::PrefixedLine& line, const Reading& reading);
  void flush();
  void take(Reading reading, std::string_view body);
  void take_closing(const Reading& reading);
  void take_epoch(const Reading& reading);
  bool take_epoch_time(const Reading& reading);
  void close_epoch(double seconds);
  [[nodiscard]] std::optional<double> step_of_epoch(const Counter* main) const;
  [[nodiscard]] double total_in_key(const Reading& reading);
  void take_loose(const Reading& reading, std::string_view body);
  void count(Reading& reading, std::string_view body);
  void remember_checkpoint(const lines::PrefixedLine& line);
  [[nodiscard]] Counter* newest_counter();
  [[nodiscard]] const Counter* main_counter() const;
  [[nodiscard]] Progress by_rules() const;  ///< all lines so far, the open block among them
  [[nodiscard]] Progress of_reports() const;
  [[nodiscard]] std::map<std::string, Features> grounds_of(const Progress& progress) const;
  void weigh(Progress& progress) const;
  [[nodiscard]] std::deque<StepSample> samples_of(const Counter& counter) const;
  [[nodiscard]] std::optional<StepTime> time_of_checkpoints() const;
  [[nodiscard]] std::optional<LeftTime> remaining(const Progress& progress,
                                                  const Counter* main) const;
  [[nodiscard]] std::optional<double> left_by_steps(const Progress& progress,
                                                    const Counter& main) const;
  [[nodiscard]] std::optional<LeftTime> left_as_printed(const Progress& progress,
                                                        const Counter& main,
                                                        const std::optional<double>& own) const;
  [[nodiscard]] std::optional<double> epochs_left(const Progress& progress) const;

  const LogWords& words_;
  std::optional<UnknownShapes> unknown_;
  std::map<std::string, Counter> counters_;
  Block block_;
  std::unordered_set<std::uint64_t> silent_;  ///< shapes of lines that say nothing
  Columns columns_;
  Shapes shapes_;
  std::deque<StepSample> epochs_;  ///< their counter and times, where lines report epochs
  std::uint64_t lines_ = 0, loose_left_at_ = 0;
  std::optional<double> loose_left_s_;  ///< printed on a line without a counter
  double arrival_s_ = 0;
  bool held_out_ = false;         ///< a line like "Evaluation" heads what follows
  std::vector<TimeField> loose_;  ///< times of lines without a counter, for the next that has one
  std::optional<double> loose_rate_;
  std::deque<StepSample> bare_;         ///< times of a step on lines that count none
  std::deque<StepSample> checkpoints_;  ///< steps and instants of those that were saved
  double checked_out_s_ = 0;            ///< seconds of evaluations since the first of them
  std::optional<double> loss_, epoch_, total_epochs_, checkpoint_step_, closing_step_s_;
  std::optional<double> epoch_from_;    ///< step at which the last epoch was said to have ended
  std::optional<double> epoch_step_s_;  ///< seconds of an epoch by its steps
  std::optional<double> epoch_s_;       ///< seconds of the last epoch that printed them
  std::string loose_loss_key_;          ///< of the loss behind the last counter; empty: none is
  std::optional<Throughput> throughput_;
  std::string last_text_, scratch_, extracted_;
};

}  // namespace schedmate::progress
