// SPDX-License-Identifier: Apache-2.0
#include "log/progress/tracker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/text.hpp"
#include "log/lines/inner_stamp.hpp"
#include "log/progress/line_parts.hpp"

namespace schedmate::progress {
namespace {

constexpr std::size_t most_counters = 32;
constexpr std::size_t most_row_text = 400;
constexpr std::size_t most_block = 4096;
constexpr std::size_t longest_row = 120;
constexpr std::size_t most_silent = 1U << 14U;
constexpr std::size_t most_loose = 16;

bool ends_run(const StepSample& last, const Reading& next) {
  return next.step && *next.step < last.step &&
         (!next.epoch || !last.epoch || *next.epoch == *last.epoch);
}

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

void ProgressTracker::add(std::string_view line) {
  const auto clean = lines::without_escapes(line, scratch_);
  if (!clean.contains('\r')) {
    add_state(clean);
    return;
  }
  for (const auto state : lines::states_of(clean)) add_state(state);
}

void ProgressTracker::add_state(std::string_view state) {
  lines::PrefixedLine line = lines::read_prefixes(state);
  if (line.body.starts_with("wandb: ")) return;  // its summary is of a run that has ended
  lines::extract_stamp(line, extracted_);
  if (line.body.find_first_of("0123456789") == std::string_view::npos) {
    columns_.see_text(line.body);
    see_heading(line.body);
    // "| train/ | |" heads a part of a table; a line of text or a rule ends it.
    if (!trim(line.body).starts_with('|')) flush();
    return;
  }
  // "2024-03-01 10:00:05,300,0.5" under "time,step,loss" has no milliseconds.
  const bool stamped = columns_.begin_with_time();
  auto row = stamped ? columns_.row(state) : columns_.row(line.body);
  if (row) {
    line.body = *row;
    if (stamped) line.time.reset();
    lines::extract_stamp(line, extracted_);
  }
  add_line(line);
}

/// "Evaluation", "Testing ...": the bars without a name behind it are not the training's.
void ProgressTracker::see_heading(std::string_view body) {
  constexpr std::size_t longest = 24;
  const auto text = trim(body);
  if (text.empty() || text.size() > longest) return;
  const auto words = words_of(text);
  held_out_ = words_.held_out.contains(words.front());
}

void ProgressTracker::add_line(const lines::PrefixedLine& line) {
  const auto shape = shape_of(line.body);
  const auto quiet = shape + (line.time ? 1 : 0);  // "7 0.5" may count only where it is stamped
  if (silent_.contains(quiet)) {
    if (unknown_) unknown_->add(shape, line, nullptr);
    remember_checkpoint(line);
    return flush();
  }
  Reading reading = read_line(line, words_);
  if (unknown_) unknown_->add(shape, line, &reading);
  if (reading.kind == Reading::Kind::nothing) {
    remember_checkpoint(line);
    // Lines of one number may be parts of a table.
    const bool counts = line.time && is_bare_row(line.body);
    const bool part = reading.keys.size() == 1 || reading.throughput || reading.left_s || counts;
    if (!part && silent_.size() < most_silent) silent_.insert(quiet);
  }
  if (add_to_block(line, reading)) return;
  flush();
  const auto text = line.rank >= 0 && !line.time ? line.whole : line.body;
  block_.text = std::string(line.body.substr(0, most_block));
  block_.whole = std::string(text.substr(0, most_block));
  block_.line = line;
  block_.keys = reading.keys;
  block_.reading = std::move(reading);
  block_.lines = 1;
}

bool ProgressTracker::add_to_block(const lines::PrefixedLine& line, const Reading& reading) {
  const bool one = reading.keys.size() == 1 && !reading.keys[0].empty() && !reading.bar &&
                   !line.time && line.body.size() < longest_row;
  if (!one || block_.lines == 0 || block_.reading.bar || block_.text.size() > most_block)
    return false;
  if (reading.by_place || block_.reading.by_place) return false;
  if (std::ranges::find(block_.keys, reading.keys[0]) != block_.keys.end()) return false;
  block_.text += ", ";
  block_.text += line.body;
  block_.keys.push_back(reading.keys[0]);
  ++block_.lines;
  return true;
}

void ProgressTracker::flush() {
  if (block_.lines == 0) return;
  Block block = std::exchange(block_, {});
  if (block.lines > 1) {
    block.line.body = block.line.whole = block.text;
    block.reading = read_line(block.line, words_);
  }
  const bool sums_up = std::ranges::any_of(
      block.reading.keys, [&](const auto& key) { return has_word(key, words_.held_out); });
  const bool open = block.lines == 1 && !block.reading.step && !block.reading.by_place &&
                    !block.reading.names_held_out;
  if (open)
    for (Reading& known : shapes_.add(block.whole, block.reading)) {
      // What goes up by one and is of something held out is a round; its time is not a step's.
      if (sums_up && known.by_one) {
        known.times.clear();
        loose_.clear();
      }
      block.reading.kind = Reading::Kind::nothing;
      count(known, block.text);
    }
  take(std::move(block.reading), block.text);
}

/// "Saving model checkpoint to out/checkpoint-1500", "global_step1971": the step where progress
/// lines have none.
void ProgressTracker::remember_checkpoint(const lines::PrefixedLine& line) {
  constexpr double fewest = 10;  // steps between checkpoints; epochs are numbered by ones
  for (const std::string_view mark : {"global_step", "checkpoint-", "checkpoint_", "iter_"}) {
    const auto at = line.body.find(mark);
    if (at == std::string_view::npos) continue;
    const auto digits = line.body.substr(at + mark.size());
    const auto end = std::min(digits.find_first_not_of("0123456789"), digits.size());
    const auto step = parse_number<double>(digits.substr(0, end));
    if (!step) continue;
    checkpoint_step_ = step;
    const double before = checkpoints_.empty() ? 0 : checkpoints_.back().step;
    if (!line.time || !mark.ends_with('-') || std::abs(*step - before) < fewest) continue;
    if (*step < before) checkpoints_.clear();
    if (checkpoints_.empty()) checked_out_s_ = 0;
    checkpoints_.push_back({*step, std::nullopt, line.time, {}, std::nullopt, arrival_s_, {}});
    if (checkpoints_.size() > most_samples) checkpoints_.pop_front();
  }
}

void ProgressTracker::take(Reading reading, std::string_view body) {
  if (reading.left_s && reading.kind != Reading::Kind::held_out && !reading.step) {
    loose_left_s_ = reading.left_s;
    loose_left_at_ = lines_;
  }
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
    case Reading::Kind::epoch:
      take_epoch(reading);
      break;
    case Reading::Kind::held_out:
      if (!checkpoints_.empty()) checked_out_s_ += reading.held_out_s;
      break;
    case Reading::Kind::nothing:
      break;
  }
}

/// The summary that ends a run: its loss is a mean, its speed that of the whole run.
void ProgressTracker::take_closing(const Reading& reading) {
  if (reading.bar_step_s) closing_step_s_ = reading.bar_step_s;
  if (reading.throughput) throughput_ = reading.throughput;
}

ProgressTracker::Counter* ProgressTracker::newest_counter() {
  Counter* newest = nullptr;
  for (auto& [key, counter] : counters_)
    if (newest == nullptr || counter.newest > newest->newest) newest = &counter;
  return newest;
}

/// What has no counter of its own belongs to the next report.
void ProgressTracker::take_loose(const Reading& reading, std::string_view body) {
  StepSample bare;
  if (!take_epoch_time(reading))
    for (const TimeField& field : reading.times) {
      loose_.push_back(field);
      if (field.meaning == TimeMeaning::step) bare.times.push_back(field);
    }
  bare.rate_s = reading.bar_step_s;
  if (!bare.times.empty() || bare.rate_s) bare_.push_back(std::move(bare));
  if (bare_.size() > most_samples) bare_.pop_front();
  if (loose_.size() > most_loose)
    loose_.erase(loose_.begin(), loose_.end() - static_cast<std::ptrdiff_t>(most_loose));
  if (reading.bar_step_s) loose_rate_ = reading.bar_step_s;
  if (reading.loss) {
    ++lines_;
    // Of several bars the one that losses stand between is the training's.
    if (Counter* last = newest_counter()) last->near_loss = true;
    loss_ = reading.loss;
    loose_loss_key_ = reading.epoch ? std::string() : reading.loss_key;
    last_text_ = std::string(body.substr(0, most_row_text));
  }
  if (reading.throughput) throughput_ = reading.throughput;
  take_epoch(reading);
}

/// What tells counters without a name apart: their total; of a bar that went past its end, which
/// prints none any more, the one it had: "14/14 [", then "15it [".
double ProgressTracker::total_in_key(const Reading& reading) {
  if (reading.total_steps || !reading.bar_step_s) return reading.total_steps.value_or(0);
  const Counter* last = newest_counter();
  if (last == nullptr || last->newest != lines_ || !last->last.bar) return 0;
  const double total = last->total_seen;
  const double before = *last->last.step;
  const bool goes_on = *reading.step > total && before <= *reading.step && before * 2 > total;
  return goes_on && last->last.epoch == reading.epoch ? total : 0;
}

void ProgressTracker::count(Reading& reading, std::string_view body) {
  // Pairs without a name are distinguished by their totals.
  auto key = reading.step_key;
  if (key == "n/total") key += fmt::format(" {}", total_in_key(reading));
  auto found = counters_.find(key);
  const bool nameless = key != reading.step_key;
  if (found == counters_.end() && nameless && held_out_) return;
  if (!nameless) held_out_ = false;
  ++lines_;
  if (found == counters_.end()) {
    if (counters_.size() >= most_counters) return;
    found = counters_.emplace(key, Counter()).first;
  }
  Counter& counter = found->second;
  if (reading.total_steps) counter.total_seen = *reading.total_steps;
  if (!counter.samples.empty()) {
    const StepSample& last = counter.samples.back();
    const bool next_epoch = reading.epoch && last.epoch && *reading.epoch > *last.epoch;
    if (next_epoch) {
      counter.in_epoch = *reading.step <= last.step;
      counter.over_epochs = !counter.in_epoch;
    }
    // "epoch 4/9, batch 625/625": a report for each epoch, at its end.
    if (next_epoch && *reading.step == last.step && reading.total_steps == reading.step)
      for (TimeField& field : reading.times)
        if (field.covers == 0 && field.meaning != TimeMeaning::step) field.covers = last.step;
    if (ends_run(last, reading) && *reading.step < last.step / 2)
      counter.samples.clear();  // a new run, or a new epoch of a counter within epochs
  }
  StepSample sample{*reading.step,
                    reading.epoch,
                    reading.time,
                    reading.times,
                    reading.bar_step_s,
                    arrival_s_,
                    {}};
  if (reading.epoch) sample.per_epoch = reading.total_steps.value_or(0);
  if (reading.eta_s && reading.total_steps && *reading.total_steps > *reading.step)
    sample.eta_s = *reading.eta_s / (*reading.total_steps - *reading.step);
  if (sample.times.empty() && !sample.rate_s) {
    sample.times = std::exchange(loose_, {});
    sample.rate_s = std::exchange(loose_rate_, std::nullopt);
  }
  loose_.clear();
  loose_rate_.reset();
  counter.samples.push_back(std::move(sample));
  if (counter.samples.size() > most_samples) counter.samples.pop_front();
  if (reading.epoch_s) close_epoch(*reading.epoch_s);
  const auto loss = reading.loss ? reading.loss : counter.last.loss;
  counter.has_loss = counter.has_loss || reading.loss;
  counter.newest = lines_;
  counter.text = std::string(body.substr(0, most_row_text));
  if (reading.throughput) throughput_ = reading.throughput;
  if (reading.loss) loss_ = reading.loss;
  loose_loss_key_.clear();
  if (reading.loss_key.empty()) reading.loss_key = counter.last.loss_key;
  counter.last = std::move(reading);
  counter.last.loss = loss;
}

// What the lines so far amount to.

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
    // Of two bars at their ends that show a loss the test's is the shorter one.
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

/// With the times that followed the last report on lines of their own.
std::deque<StepSample> ProgressTracker::samples_of(const Counter& counter) const {
  auto samples = counter.samples;
  if (loose_.empty() && !loose_rate_) return samples;
  StepSample last = samples.back();
  last.times = loose_;
  last.rate_s = loose_rate_;
  samples.push_back(std::move(last));
  return samples;
}

/// Nothing where the evaluations between them take too much of the time.
std::optional<StepTime> ProgressTracker::time_of_checkpoints() const {
  constexpr double much = 0.1;
  if (checkpoints_.size() < 2) return std::nullopt;
  const double took = checkpoints_.back().time->seconds - checkpoints_.front().time->seconds;
  if (checked_out_s_ > much * took) return std::nullopt;
  return step_time_of(checkpoints_);
}

Progress ProgressTracker::by_rules() const {
  if (block_.lines == 0) return of_reports();
  ProgressTracker whole(*this);
  whole.flush();
  return whole.of_reports();
}

Progress ProgressTracker::now() const {
  Progress progress = by_rules();
  if (unknown_) unknown_->fill(progress);
  for (const std::string& field : progress.by_model) progress.confidence.erase(field);
  return progress;
}

std::optional<LineShape> ProgressTracker::open_question() const {
  return unknown_ ? unknown_->open_question(by_rules()) : std::nullopt;
}

std::optional<CheckedMeaning> ProgressTracker::answer(std::uint64_t hash,
                                                      const std::optional<LineMeaning>& given) {
  return unknown_ ? unknown_->answer(hash, given) : std::nullopt;
}

Progress ProgressTracker::of_reports() const {
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
    // The first half of a report whose counter has not come yet.
    const bool newer = !loose_loss_key_.empty() && loose_loss_key_ == last.loss_key;
    if (last.loss && main->has_loss && !newer) progress.loss = last.loss;
    progress.evidence.push_back(main->text);
    const auto samples = samples_of(*main);
    if (const auto time = step_time_of(samples); time && is_a_step(time->seconds)) {
      progress.step_time_s = time->seconds;
      progress.recent_step_time_s = recent_step_s(samples, *time);
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
  if (const auto time = step_of_epoch(main); !progress.step_time_s && time && is_a_step(*time)) {
    progress.step_time_s = time;
    progress.by = "time of an epoch by its steps";
  }
  if (const auto left = remaining(progress, main)) {
    progress.remaining_s = left->seconds;
    progress.remaining_by = left->by;
  }
  weigh(progress);
  return progress;
}

std::vector<Report> ProgressTracker::reports(Clock clock) const {
  ProgressTracker whole(*this);
  whole.flush();
  std::vector<Report> reports;
  const Counter* main = whole.main_counter();
  double days = 0;  // clocks without a date restart at midnight
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

}  // namespace schedmate::progress
