// SPDX-License-Identifier: Apache-2.0
/// What the lines so far amount to.
#include <algorithm>
#include <cmath>

#include "log/progress/tracker.hpp"

namespace schedmate {
namespace {

/// A step of more than a day is a clock or a sum that was misread.
bool is_a_step(double seconds) {
  constexpr double shortest = 1e-7;
  constexpr double longest = 86400;
  return seconds >= shortest && seconds <= longest;
}

/// A bar that is not at its end.
bool is_open(const Reading& reading) {
  return reading.bar && reading.step && reading.total_steps && *reading.step < *reading.total_steps;
}

bool is_at_end(const Reading& reading) {
  return reading.step_key == "n/total" && reading.loss && reading.step == reading.total_steps;
}

/// "Train batches[100]" in every report: nothing was counted.
bool stands_still(const std::deque<StepSample>& samples) {
  constexpr std::size_t enough = 3;
  return samples.size() >= enough && std::ranges::all_of(samples, [&](const StepSample& each) {
           return each.step == samples.front().step;
         });
}

}  // namespace

/// The counter that says most of the training: with a total, a time, a loss; then the newest, but a
/// bar within another that is not at its end is not the training's.
const ProgressTracker::Counter* ProgressTracker::main_counter() const {
  const Counter* best = nullptr;
  int best_worth = -1;
  for (const auto& [key, counter] : counters_) {
    if (counter.samples.empty()) continue;
    const StepSample& last = counter.samples.back();
    int worth = (counter.last.total_steps ? 2 : 0) + (counter.has_loss ? 2 : 0) +
                (counter.near_loss && !counter.has_loss ? 1 : 0) +
                (last.rate_s || !last.times.empty() ? 3 : 0);
    if (!counter.last.total_steps && stands_still(counter.samples)) worth = 0;
    const bool newer = best != nullptr && counter.newest > best->newest;
    const bool within = best != nullptr && (newer ? is_open(best->last) && counter.last.bar
                                                  : is_open(counter.last) && best->last.bar);
    // Of two bars at their ends that tell of a loss the test's is the shorter one.
    const bool ended = best != nullptr && is_at_end(counter.last) && is_at_end(best->last);
    const bool first =
        ended ? *counter.last.total_steps > *best->last.total_steps : newer != within;
    const bool better = best == nullptr || worth > best_worth || (worth == best_worth && first);
    if (!better) continue;
    best = &counter;
    best_worth = worth;
  }
  return best;
}

/// The times of a report may follow it.
std::optional<StepTime> ProgressTracker::time_of(const Counter& counter) const {
  if (loose_.empty() && !loose_rate_) return step_time_of(counter.samples);
  auto samples = counter.samples;
  StepSample last = samples.back();
  last.times = loose_;
  last.rate_s = loose_rate_;
  samples.push_back(std::move(last));
  return step_time_of(samples);
}

/// Nothing where the evaluations between them take too much of the time.
std::optional<StepTime> ProgressTracker::time_of_checkpoints() const {
  constexpr double much = 0.1;
  if (checkpoints_.size() < 2) return std::nullopt;
  const double took = checkpoints_.back().time->seconds - checkpoints_.front().time->seconds;
  if (checked_out_s_ > much * took) return std::nullopt;
  return step_time_of(checkpoints_);
}

Progress ProgressTracker::now() const {
  ProgressTracker whole(*this);
  whole.flush();
  Progress progress = whole.told();
  if (unknown_) unknown_->fill(progress);
  return progress;
}

Progress ProgressTracker::told() const {
  Progress progress;
  progress.lines = lines_;
  progress.throughput = throughput_;
  progress.loss = loss_;
  progress.epoch = epoch_;
  progress.total_epochs = total_epochs_;
  const Counter* main = main_counter();
  if (main != nullptr) {
    const Reading& last = main->last;
    progress.step = last.step;
    progress.total_steps = last.total_steps;
    if (last.epoch) progress.epoch = last.epoch;
    if (last.total_epochs) progress.total_epochs = last.total_epochs;
    if (last.loss && main->has_loss) progress.loss = last.loss;
    progress.evidence.push_back(main->text);
    if (const auto time = time_of(*main); time && is_a_step(time->seconds)) {
      progress.step_time_s = time->seconds;
      progress.by = last.format != nullptr ? last.format->name + ", " + time->by : time->by;
    }
  } else if (!last_text_.empty()) {
    progress.evidence.push_back(last_text_);
  }
  if (!progress.step) progress.step = checkpoint_step_;
  if (main == nullptr && bare_.size() > 1)
    if (const auto time = step_time_of(bare_); time && is_a_step(time->seconds)) {
      progress.step_time_s = time->seconds;
      progress.by = time->by;
    }
  if (main == nullptr && !progress.step_time_s && !closing_step_s_)
    if (const auto time = time_of_checkpoints(); time && is_a_step(time->seconds)) {
      progress.step_time_s = time->seconds;
      progress.by = "time stamps of checkpoints";
    }
  if (!progress.step_time_s && closing_step_s_ && is_a_step(*closing_step_s_)) {
    progress.step_time_s = closing_step_s_;
    progress.by = "closing summary";
  }
  if (!progress.step_time_s && epoch_step_s_ && is_a_step(*epoch_step_s_)) {
    progress.step_time_s = epoch_step_s_;
    progress.by = "time of an epoch by its steps";
  }
  progress.remaining_s = remaining(progress, main);
  return progress;
}

std::vector<Report> ProgressTracker::reports(Clock clock) const {
  ProgressTracker whole(*this);
  whole.flush();
  std::vector<Report> reports;
  const Counter* main = whole.main_counter();
  double days = 0;  // clocks without a date begin anew at midnight
  for (std::size_t i = 0; main != nullptr && i < main->samples.size(); ++i) {
    const StepSample& sample = main->samples[i];
    if (!reports.empty() && sample.step <= reports.back().step) continue;
    double at = sample.arrived_s;
    if (clock == Clock::stamps) {
      if (!sample.time) continue;
      at = sample.time->seconds + days;
      const bool midnight = !sample.time->dated && !reports.empty() && at < reports.back().at_s;
      if (midnight) at += 86400, days += 86400;
    }
    reports.push_back({at, sample.step});
  }
  return reports;
}

/// Whole epochs after this one. Nothing where it is not known how many there are.
std::optional<double> ProgressTracker::epochs_left(const Progress& progress) const {
  if (!progress.epoch || !progress.total_epochs) return std::nullopt;
  const bool from_zero =
      std::ranges::any_of(epochs_, [](const StepSample& each) { return each.step == 0; }) ||
      *progress.epoch == 0;
  const double done = std::floor(*progress.epoch) + (from_zero ? 1 : 0);
  return std::max(0.0, *progress.total_epochs - done);
}

std::optional<double> ProgressTracker::remaining(const Progress& progress,
                                                 const Counter* main) const {
  const auto epochs = epochs_left(progress);
  const bool steps = progress.step_time_s && progress.total_steps && progress.step &&
                     *progress.total_steps >= *progress.step;
  if (steps && main != nullptr) {
    const double here = (*progress.total_steps - *progress.step) * *progress.step_time_s;
    if (!progress.epoch || main->over_epochs) return here;
    const bool in_epoch = main->in_epoch || main->last.in_epoch;
    if (in_epoch && epochs) return here + *epochs * *progress.total_steps * *progress.step_time_s;
    if (in_epoch) return std::nullopt;  // how many epochs follow is not known
    // A counter over the whole run is about as far as the epochs are.
    if (!epochs) return here;
    const double share = *progress.step / *progress.total_steps * *progress.total_epochs;
    return std::abs(share - *progress.epoch) <= 1 ? std::optional(here) : std::nullopt;
  }
  if (!epochs) return std::nullopt;
  const auto time = step_time_of(epochs_);
  if (!time) return std::nullopt;
  return *epochs * time->seconds;
}

}  // namespace schedmate
