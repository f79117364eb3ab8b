// SPDX-License-Identifier: Apache-2.0

/// What lines of an epoch say of its steps.

#include <optional>
#include <utility>

#include "log/progress/tracker.hpp"

namespace schedmate::progress {

/// Of a line that heads or sums up an epoch.
void ProgressTracker::take_epoch(const Reading& reading) {
  if (reading.epoch) {
    if (reading.total_epochs || epoch_ != reading.epoch) total_epochs_ = reading.total_epochs;
    epoch_ = reading.epoch;
  }
  if (reading.epoch_s) close_epoch(*reading.epoch_s);
  if (!epoch_ || (!reading.epoch && !reading.epoch_s)) return;
  StepSample sample{*epoch_, std::nullopt, reading.time, {}, reading.epoch_s, arrival_s_, {}};
  epochs_.push_back(std::move(sample));
  if (epochs_.size() > most_samples) epochs_.pop_front();
}

/// "Time of this epoch: 166 s" of a counter that goes on over epochs, where reports are dense
/// enough to show how many steps it had.
void ProgressTracker::close_epoch(double seconds) {
  constexpr double dense = 20;  // reports in an epoch
  epoch_s_ = seconds;
  const Counter* main = main_counter();
  if (main == nullptr || main->samples.size() < 2) return;
  const double step = main->samples.back().step;
  const double interval = step - main->samples[main->samples.size() - 2].step;
  const double steps = step - epoch_from_.value_or(step);
  if (interval > 0 && steps >= dense * interval) epoch_step_s_ = seconds / steps;
  epoch_from_ = step;
}

/// "Epoch 3/90, train loss: 0.61, time: 862.2" among reports of steps: it is of the epoch.
bool ProgressTracker::take_epoch_time(const Reading& reading) {
  if (!reading.epoch || reading.step || reading.bar_step_s) return false;
  const Counter* steps = newest_counter();
  if (steps == nullptr || !steps->last.epoch || !steps->last.total_steps) return false;
  const auto is_whole = [](const TimeField& field) {
    return field.meaning == TimeMeaning::open || field.meaning == TimeMeaning::running;
  };
  if (reading.times.size() != 1 || !is_whole(reading.times[0])) return false;
  epoch_s_ = reading.times[0].seconds;
  return true;
}

std::optional<double> ProgressTracker::step_of_epoch(const Counter* main) const {
  if (epoch_step_s_) return epoch_step_s_;
  const bool known = main != nullptr && main->last.epoch && main->last.total_steps;
  if (!known || !epoch_s_ || main->over_epochs || *main->last.total_steps <= 1) return std::nullopt;
  return *epoch_s_ / *main->last.total_steps;
}

}  // namespace schedmate::progress
