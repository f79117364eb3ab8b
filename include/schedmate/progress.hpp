// SPDX-License-Identifier: Apache-2.0
#pragma once

/// How far a running job is, read from its log alone (paper 3.2, Metric Tracker).
///
/// Unknown is an empty optional, never a guess.

#include <cstdint>
#include <memory>
#include <optional>
#include <schedmate/line_shape.hpp>
#include <schedmate/result.hpp>
#include <span>
#include <string>
#include <vector>

namespace schedmate {

struct Throughput {
  double value = 0;
  std::string unit;  ///< as printed: "samples/s", "tok/s"
};

struct Progress {
  /// Of the last training progress line, as printed.
  std::optional<double> step, total_steps, epoch, total_epochs, loss;
  /// Median over the last progress lines, without the warm-up of the run.
  std::optional<double> step_time_s;
  std::optional<Throughput> throughput;
  std::optional<double> remaining_s;
  std::uint64_t lines = 0;            ///< training progress lines that were used
  std::vector<std::string> evidence;  ///< the last of them, cleaned
  std::string by;  ///< how step_time_s follows: the format's name and the kind of reading
  std::vector<std::string>
      by_model;  ///< fields that a ShapeReader gave, as progress_json names them
};

struct TrackOptions {
  std::string rules{};                    ///< folder with an operator's log_formats.toml; "": none
  std::shared_ptr<ShapeReader> reader{};  ///< none: lines that no rule knows stay unread
};

/// Reads the end of a file back until enough progress lines are found (paper 3.2). Errors: those of
/// opening and reading the file, and of the operator's formats.
[[nodiscard]] Result<Progress> track(const std::string& path, const TrackOptions& options = {});

/// The logs of one job's ranks: that which says most, with what only others say (some frameworks
/// print the loss on the last rank alone). Errors: as track(), when none of them can be read.
[[nodiscard]] Result<Progress> track(std::span<const std::string> paths,
                                     const TrackOptions& options = {});

[[nodiscard]] std::string progress_json(const Progress& progress);

/// One step that was reported, and when: by its time stamp or, in a followed log, by its arrival.
struct Report {
  double at_s = 0;  ///< on the clock of the log or of the caller of poll()
  double step = 0;
};

/// Reads what is new in a log that grows. It may be absent yet, be truncated or be replaced by a
/// new file (rotation); a line counts when it is whole, a state of a bar when the next one begins.
class ProgressFollower {
 public:
  /// Errors: those of the operator's formats.
  static Result<ProgressFollower> open(std::string path, const TrackOptions& options = {});
  ProgressFollower(ProgressFollower&&) noexcept;
  ProgressFollower& operator=(ProgressFollower&&) noexcept;
  ProgressFollower(const ProgressFollower&) = delete;
  ProgressFollower& operator=(const ProgressFollower&) = delete;
  ~ProgressFollower();

  /// Takes what was written since the last call; `now_s` is the caller's clock. Says whether there
  /// was anything.
  bool poll(double now_s);
  /// Puts what is open to the reader of the options, where there is one. May take as long as it
  /// does.
  void ask();
  [[nodiscard]] Progress now() const;
  /// Of the job's main counter, oldest first, by arrival.
  [[nodiscard]] std::vector<Report> reports() const;

 private:
  class State;
  explicit ProgressFollower(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// The reports at the end of a log that have time stamps. Errors: as track().
[[nodiscard]] Result<std::vector<Report>> reports_of(const std::string& path,
                                                     const TrackOptions& options = {});

struct Speed {
  double steps_per_s = 0;  ///< of the median step
  double steps = 0;        ///< that it was seen over
  double spread = 0;       ///< between quarters of the reports, as a share of the median
};

struct SpeedChange {
  std::optional<Speed> before, after;
  std::optional<double> slowdown;  ///< speed after / speed before; empty: unknown
};

/// What an instant (a job placed beside this one, a changed limit) did to the speed.
[[nodiscard]] SpeedChange speed_change(std::span<const Report> reports, double instant_s);

/// No progress for `factor` times the usual interval between reports. Empty where there are too few
/// reports to know what is usual.
[[nodiscard]] std::optional<bool> hangs(std::span<const Report> reports, double now_s,
                                        double factor = 10);

}  // namespace schedmate
