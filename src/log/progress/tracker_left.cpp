// SPDX-License-Identifier: Apache-2.0

/// How much time is left: by steps, by epochs, or as the log prints it.

#include <algorithm>
#include <cmath>

#include "log/progress/tracker.hpp"

namespace schedmate::progress {
namespace {

constexpr std::uint64_t fresh_lines = 64;  ///< a printed time is believed for so many reports
constexpr double alike = 1.3;              ///< factor between two estimates of one time

using LeftTime = ProgressTracker::LeftTime;

std::optional<LeftTime> as_printed(const std::optional<double>& seconds) {
  return seconds ? std::optional(LeftTime{*seconds, "as printed"}) : std::nullopt;
}

std::optional<LeftTime> by_steps(const std::optional<double>& seconds) {
  return seconds ? std::optional(LeftTime{*seconds, "by steps"}) : std::nullopt;
}

}  // namespace

/// Whole epochs after this one. Nothing where it is not known how many there are.
std::optional<double> ProgressTracker::epochs_left(const Progress& progress) const {
  if (!progress.epoch || !progress.total_epochs) return std::nullopt;
  const bool from_zero =
      std::ranges::any_of(epochs_, [](const StepSample& each) { return each.step == 0; }) ||
      *progress.epoch == 0;
  const double done = std::floor(*progress.epoch) + (from_zero ? 1 : 0);
  return std::max(0.0, *progress.total_epochs - done);
}

/// Of a counter whose step time is known.
std::optional<double> ProgressTracker::left_by_steps(const Progress& progress,
                                                     const Counter& main) const {
  const auto epochs = epochs_left(progress);
  const double here = (*progress.total_steps - *progress.step) * *progress.step_time_s;
  if (!progress.epoch || main.over_epochs) return here;
  const bool in_epoch = main.in_epoch || main.last.in_epoch;
  if (in_epoch && epochs) return here + *epochs * *progress.total_steps * *progress.step_time_s;
  if (in_epoch) return std::nullopt;  // how many epochs follow is not known
  // A counter over the whole run is about as far as the epochs are.
  if (!epochs) return here;
  const double share = *progress.step / *progress.total_steps * *progress.total_epochs;
  return std::abs(share - *progress.epoch) <= 1 ? std::optional(here) : std::nullopt;
}

/// Of the run, by what a counter's line says is left: of its epoch, or of the run? Where the step
/// time is known it decides; a bar's is of the bar.
std::optional<LeftTime> ProgressTracker::left_as_printed(const Progress& progress,
                                                         const Counter& main,
                                                         const std::optional<double>& own) const {
  const double printed = *main.last.left_s;
  const bool whole_run = !progress.epoch || main.over_epochs;
  const bool counts =
      progress.total_steps && progress.step && *progress.total_steps > *progress.step;
  if (whole_run || !counts) return own ? by_steps(own) : as_printed(printed);
  if (progress.step_time_s) {
    const double here = (*progress.total_steps - *progress.step) * *progress.step_time_s;
    const bool of_run = printed > here * alike && (!own || !near(printed, *own, alike));
    return of_run ? as_printed(printed) : by_steps(own);
  }
  const bool in_epoch = main.in_epoch || main.last.in_epoch || main.last.drawn;
  if (!in_epoch) return as_printed(printed);
  if (!main.last.drawn) return std::nullopt;  // of the epoch or of the run: nobody says
  const auto epochs = epochs_left(progress);
  if (!epochs) return std::nullopt;
  const double step = printed / (*progress.total_steps - *progress.step);
  return as_printed(printed + *epochs * *progress.total_steps * step);
}

std::optional<LeftTime> ProgressTracker::remaining(const Progress& progress,
                                                   const Counter* main) const {
  const bool steps = progress.step_time_s && progress.total_steps && progress.step &&
                     *progress.total_steps >= *progress.step;
  const bool trains = main != nullptr || progress.epoch || progress.loss;
  const bool fresh = trains && loose_left_s_ && lines_ <= loose_left_at_ + fresh_lines;
  auto loose = as_printed(fresh ? loose_left_s_ : std::nullopt);
  const auto own = steps && main != nullptr ? left_by_steps(progress, *main) : std::nullopt;
  if (main != nullptr && main->last.left_s) {
    const auto printed = left_as_printed(progress, *main, own);
    return printed ? printed : loose;
  }
  if (steps && main != nullptr) return own ? by_steps(own) : loose;
  if (loose) return loose;
  const auto epochs = epochs_left(progress);
  const auto time = epochs ? step_time_of(epochs_) : std::nullopt;
  if (!time) return std::nullopt;
  return LeftTime{*epochs * time->seconds, "by epochs"};
}

}  // namespace schedmate::progress
