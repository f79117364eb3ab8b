// SPDX-License-Identifier: Apache-2.0
#include "log/tracker.hpp"

#include <algorithm>
#include <cmath>

#include "base/text.hpp"

namespace schedmate {
namespace {

constexpr std::size_t most_samples = 400;
constexpr std::size_t most_counters = 32;
constexpr std::size_t most_text = 400;

bool ends_run(const Sample& last, const Reading& next) {
  return next.step && *next.step < last.step &&
         (!next.epoch || !last.epoch || *next.epoch == *last.epoch);
}

}  // namespace

void ProgressTracker::add(std::string_view line) {
  const auto clean = without_escapes(line, scratch_);
  if (!clean.contains('\r')) {
    add_state(clean);
    return;
  }
  for (const auto state : states_of(clean)) add_state(state);
}

void ProgressTracker::add_state(std::string_view state) {
  const Said said = read_prefixes(state);
  if (said.body.find_first_of("0123456789") == std::string_view::npos) {
    if (trim(said.body).empty()) return;
    open_ = nullptr;
    return;
  }
  Reading reading = read_line(said, words_);
  if (reading.kind == Reading::Kind::nothing) remember_checkpoint(said.body);
  take(std::move(reading), said.body);
}

/// "Saving model checkpoint to out/checkpoint-1500", "global_step1971": the step where progress
/// lines have none.
void ProgressTracker::remember_checkpoint(std::string_view body) {
  for (const std::string_view mark : {"global_step", "checkpoint-", "checkpoint_", "iter_"}) {
    const auto at = body.find(mark);
    if (at == std::string_view::npos) continue;
    const auto digits = body.substr(at + mark.size());
    const auto end = std::min(digits.find_first_not_of("0123456789"), digits.size());
    if (const auto step = parse_number<double>(digits.substr(0, end))) checkpoint_step_ = step;
  }
}

void ProgressTracker::take(Reading reading, std::string_view body) {
  if (reading.kind == Reading::Kind::closing) {
    if (reading.bar_step_s) closing_step_s_ = reading.bar_step_s;
    for (const TimeField& field : reading.times)
      if (field.key == "train runtime") closing_runtime_s_ = field.seconds;
    if (reading.throughput) throughput_ = reading.throughput;
    return;
  }
  if (reading.kind == Reading::Kind::held_out) {
    open_ = nullptr;
    return;
  }
  if (reading.keys.size() == 1 && !reading.bar && add_to_block(reading)) return;
  if (reading.kind == Reading::Kind::nothing) {
    open_ = nullptr;
    return;
  }
  if (reading.step) {
    count(reading, body);
    return;
  }
  for (const TimeField& field : reading.times) loose_.push_back(field);
  if (loose_.size() > 16) loose_.erase(loose_.begin(), loose_.end() - 16);
  if (reading.bar_step_s) loose_rate_ = reading.bar_step_s;
  if (reading.loss) {
    ++lines_;
    loss_ = reading.loss;
    last_text_ = std::string(body.substr(0, most_text));
  }
  if (reading.epoch) {
    epoch_ = reading.epoch;
    total_epochs_ = reading.total_epochs;
  }
  if (reading.throughput) throughput_ = reading.throughput;
  open_ = nullptr;
}

/// Tables print one number a line: they belong to the report that they follow.
bool ProgressTracker::add_to_block(const Reading& reading) {
  if (reading.step || reading.kind == Reading::Kind::nothing) {
    if (reading.step && open_ != nullptr) return false;
    return reading.kind == Reading::Kind::nothing && open_ != nullptr;
  }
  if (open_ == nullptr) return false;
  Sample& sample = open_->samples.back();
  for (const TimeField& field : reading.times) sample.times.push_back(field);
  if (reading.bar_step_s && !sample.rate_s) sample.rate_s = reading.bar_step_s;
  if (reading.loss && reading.loss_rank == 0) {
    open_->last.loss = reading.loss;
    open_->has_loss = true;
  }
  if (reading.throughput) throughput_ = reading.throughput;
  return true;
}

void ProgressTracker::count(Reading& reading, std::string_view body) {
  ++lines_;
  auto found = counters_.find(reading.step_key);
  if (found == counters_.end()) {
    if (counters_.size() >= most_counters) return;
    found = counters_.emplace(reading.step_key, Counter()).first;
  }
  Counter& counter = found->second;
  if (!counter.samples.empty() && ends_run(counter.samples.back(), reading) &&
      *reading.step < counter.samples.back().step / 2)
    counter.samples.clear();  // a new run, or a new epoch of a counter within epochs
  Sample sample{*reading.step, reading.epoch, reading.time, reading.times, reading.bar_step_s};
  if (sample.times.empty() && !sample.rate_s) {
    sample.times = std::exchange(loose_, {});
    sample.rate_s = std::exchange(loose_rate_, std::nullopt);
  }
  loose_.clear();
  loose_rate_.reset();
  counter.samples.push_back(std::move(sample));
  if (counter.samples.size() > most_samples) counter.samples.pop_front();
  const auto loss = reading.loss ? reading.loss : counter.last.loss;
  counter.has_loss = counter.has_loss || reading.loss;
  counter.newest = lines_;
  counter.text = std::string(body.substr(0, most_text));
  if (reading.throughput) throughput_ = reading.throughput;
  if (reading.loss) loss_ = reading.loss;
  counter.last = std::move(reading);
  counter.last.loss = loss;
  open_ = &counter;
}

/// The counter that says most of the training: with a total, a time, a loss; then the newest.
const ProgressTracker::Counter* ProgressTracker::main_counter() const {
  const Counter* best = nullptr;
  int best_worth = -1;
  for (const auto& [key, counter] : counters_) {
    if (counter.samples.empty()) continue;
    const Sample& last = counter.samples.back();
    const int worth = (counter.last.total_steps ? 2 : 0) + (counter.has_loss ? 2 : 0) +
                      (last.rate_s || !last.times.empty() ? 2 : 0);
    const bool better =
        worth > best_worth || (worth == best_worth && counter.newest > best->newest);
    if (!better) continue;
    best = &counter;
    best_worth = worth;
  }
  return best;
}

Progress ProgressTracker::now() const {
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
    if (const auto time = step_time_of(main->samples)) {
      progress.step_time_s = time->seconds;
      progress.by = last.format != nullptr ? last.format->name + ", " + time->by : time->by;
    }
  } else if (!last_text_.empty()) {
    progress.evidence.push_back(last_text_);
  }
  if (!progress.step) progress.step = checkpoint_step_;
  if (!progress.step_time_s && closing_step_s_) {
    progress.step_time_s = closing_step_s_;
    progress.by = "closing summary";
  }
  if (progress.step_time_s && progress.total_steps && progress.step &&
      *progress.total_steps >= *progress.step)
    progress.remaining_s = (*progress.total_steps - *progress.step) * *progress.step_time_s;
  return progress;
}

}  // namespace schedmate
