// SPDX-License-Identifier: Apache-2.0
#include "log/tracker.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/text.hpp"

namespace schedmate {
namespace {

constexpr std::size_t most_samples = 400;
constexpr std::size_t most_counters = 32;
constexpr std::size_t most_text = 400;
constexpr std::size_t most_block = 4096;
constexpr std::size_t most_row = 120;
constexpr std::size_t most_loose = 16;

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
    // "| train/ | |" heads a part of a table; a line of text or a rule ends it.
    if (!trim(said.body).starts_with('|')) flush();
    return;
  }
  Reading reading = read_line(said, words_);
  if (reading.kind == Reading::Kind::nothing) remember_checkpoint(said.body);
  if (add_to_block(said, reading)) return;
  flush();
  block_.text = std::string(said.body.substr(0, most_block));
  block_.said = said;
  block_.keys = reading.keys;
  block_.reading = std::move(reading);
  block_.lines = 1;
}

bool ProgressTracker::add_to_block(const Said& said, const Reading& reading) {
  const bool one = reading.keys.size() == 1 && !reading.keys[0].empty() && !reading.bar &&
                   !said.time && said.body.size() < most_row;
  if (!one || block_.lines == 0 || block_.reading.bar || block_.text.size() > most_block)
    return false;
  if (std::ranges::find(block_.keys, reading.keys[0]) != block_.keys.end()) return false;
  block_.text += ", ";
  block_.text += said.body;
  block_.keys.push_back(reading.keys[0]);
  ++block_.lines;
  return true;
}

void ProgressTracker::flush() {
  if (block_.lines == 0) return;
  Block block = std::exchange(block_, {});
  if (block.lines > 1) {
    block.said.body = block.text;
    block.reading = read_line(block.said, words_);
  }
  take(std::move(block.reading), block.text);
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
  switch (reading.kind) {
    case Reading::Kind::closing:
      take_closing(reading);
      break;
    case Reading::Kind::training:
      if (reading.step)
        count(reading, body);
      else
        take_loose(reading, body);
      break;
    case Reading::Kind::held_out:
    case Reading::Kind::nothing:
      break;
  }
}

/// The summary that ends a run: its loss is a mean, its speed that of the whole run.
void ProgressTracker::take_closing(const Reading& reading) {
  if (reading.bar_step_s) closing_step_s_ = reading.bar_step_s;
  if (reading.throughput) throughput_ = reading.throughput;
}

/// What has no counter of its own belongs to the next report.
void ProgressTracker::take_loose(const Reading& reading, std::string_view body) {
  for (const TimeField& field : reading.times) loose_.push_back(field);
  if (loose_.size() > most_loose)
    loose_.erase(loose_.begin(), loose_.end() - static_cast<std::ptrdiff_t>(most_loose));
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
  ProgressTracker whole(*this);
  whole.flush();
  return whole.told();
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
