// SPDX-License-Identifier: Apache-2.0
#pragma once

/// How far a running job is, and how fast, read from its log alone (paper 3.2, Metric Tracker;
/// docs/formats/logs.md). Unknown is an empty optional, never a guess. Values; the free functions
/// may be called from any thread, a ProgressFollower from one at a time.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <schedmate/file_access.hpp>
#include <schedmate/line_shape.hpp>
#include <schedmate/result.hpp>
#include <span>
#include <string>
#include <vector>

namespace schedmate {

struct Throughput {
  double value = 0;
  /// As printed: "samples/s", "tok/s".
  std::string unit;
};

struct Progress {
  /// Of the last training progress line, as printed.
  std::optional<double> step, total_steps, epoch, total_epochs, loss;
  /// Median over the last progress lines, without the warm-up of the run.
  std::optional<double> step_time_s;
  /// By the last few of these lines alone: shows at once that a job is slowed down or set free.
  std::optional<double> recent_step_time_s;
  std::optional<Throughput> throughput;
  /// Until the end of the run: steps that are left times the step time, whole epochs times theirs,
  /// or, where neither is known, what the log prints. `remaining_by` says which ("by steps", "by
  /// epochs", "as printed"; "" = not known).
  std::optional<double> remaining_s;
  std::string remaining_by;
  /// Training progress lines that were used, and the last of them, cleaned.
  std::uint64_t lines = 0;
  std::vector<std::string> evidence;
  /// How step_time_s follows: the format's name and the kind of reading.
  std::string by;
  /// How likely `step`, `total_steps`, `loss` and `step_time_s` are right, 0 to 1, by these names
  /// (docs/confidence.md). What a ShapeReader gave has none.
  std::map<std::string, double> confidence;
  /// Logs that were read in part only, one sentence each.
  std::vector<std::string> unread;
  /// Fields that a ShapeReader gave, as progress_json names them.
  std::vector<std::string> by_model;
};

struct TrackOptions {
  /// Folder with an operator's log_formats.toml, whose formats are tried first; "" = none.
  std::string rules{};
  /// Null: lines that no rule knows stay unread.
  std::shared_ptr<ShapeReader> reader{};
  /// Of the logs.
  FileAccess access{};
};

/// Reads the end of a file back until it has enough progress lines (paper 3.2), 16 MiB at most:
/// the cost does not grow with the log. A log without progress gives a Progress without figures.
/// Errors: those of opening and reading the file, and of the operator's formats.
[[nodiscard]] Result<Progress> track(const std::string& path, const TrackOptions& options = {});

/// The logs of one job's ranks: the one that says most, with what only others say (some frameworks
/// print the loss on the last rank alone). Errors: as track(), when none of them can be read.
[[nodiscard]] Result<Progress> track(std::span<const std::string> paths,
                                     const TrackOptions& options = {});

/// Values that are less likely right become unknown, and what is left of the run with them; their
/// confidence stays.
void cut_below(double least, Progress& progress);

/// Of the values that are at least so likely right, 97 % were.
[[nodiscard]] double careful_progress_confidence();

/// schedmate.progress.v1.
[[nodiscard]] std::string progress_json(const Progress& progress);

/// One step that was reported, and when: by its time stamp or, in a followed log, by its arrival.
struct Report {
  /// On the clock of the log or of the caller of poll().
  double at_s = 0;
  double step = 0;
};

/// Reads what is new in a log that grows. The log may be absent yet, be truncated or be replaced by
/// a new file (rotation). A line counts when it is whole, a state of a bar when the next begins.
class ProgressFollower {
 public:
  /// Does not read yet. Errors: those of the operator's formats.
  static Result<ProgressFollower> open(std::string path, const TrackOptions& options = {});
  ProgressFollower(ProgressFollower&&) noexcept;
  ProgressFollower& operator=(ProgressFollower&&) noexcept;
  ProgressFollower(const ProgressFollower&) = delete;
  ProgressFollower& operator=(const ProgressFollower&) = delete;
  ~ProgressFollower();

  /// Takes what was written since the last call; `now_s` is the caller's clock. Says whether there
  /// was anything.
  bool poll(double now_s);
  /// Puts what is open to the reader of the options, where there is one. May take as long as the
  /// reader does.
  void ask();
  [[nodiscard]] Progress now() const;
  /// Of the job's main counter, oldest first, by arrival.
  [[nodiscard]] std::vector<Report> reports() const;

 private:
  class State;
  explicit ProgressFollower(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// The reports at the end of a log that have time stamps; none when its lines have no stamps.
/// Errors: as track().
[[nodiscard]] Result<std::vector<Report>> reports_of(const std::string& path,
                                                     const TrackOptions& options = {});

struct Speed {
  /// Of the median step.
  double steps_per_s = 0;
  /// Steps that it was seen over.
  double steps = 0;
  /// Between the quartiles of the reports, as a share of the median.
  double spread = 0;
};

struct SpeedChange {
  /// Empty: fewer than three steady intervals on that side.
  std::optional<Speed> before, after;
  /// Speed after / speed before. Empty: unknown.
  std::optional<double> slowdown;
};

/// What an instant (a job placed beside this one, a changed limit) did to the speed.
[[nodiscard]] SpeedChange speed_change(std::span<const Report> reports, double instant_s);

/// No progress for `factor` times the usual interval between reports. Empty: too few reports to
/// know what is usual.
[[nodiscard]] std::optional<bool> hangs(std::span<const Report> reports, double now_s,
                                        double factor = 10);

}  // namespace schedmate
