// SPDX-License-Identifier: Apache-2.0
#include "log/progress/series.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/text.hpp"
#include "log/progress/columns_of_numbers.hpp"

namespace schedmate::progress {
namespace {

/// Two reports of one counter, one after the other.
struct Gap {
  const StepSample* from;
  const StepSample* to;
  [[nodiscard]] double steps() const { return to->step - from->step; }
};

/// The median without the first reports of a run, which hold compiling and filling of caches.
double steady(std::vector<double> values) {
  constexpr double much_slower = 2;
  const bool slow_start = values.size() == 2 && values[0] > much_slower * values[1];
  const std::ptrdiff_t warm_up = values.size() >= 8 ? 2 : values.size() >= 3 || slow_start ? 1 : 0;
  values.erase(values.begin(), values.begin() + warm_up);
  return median_of(std::move(values));
}

/// Those that have a time stamp.
std::deque<StepSample> stamped(const std::deque<StepSample>& samples) {
  std::deque<StepSample> found;
  for (const StepSample& sample : samples)
    if (sample.time) found.push_back(sample);
  return found;
}

/// Pairs in which the counter went forward. Several ranks may report one step, two handlers may
/// print one line: the first of them that has a time stamp counts.
std::vector<Gap> gaps_of(const std::deque<StepSample>& samples) {
  std::vector<const StepSample*> steps;
  for (const StepSample& sample : samples) {
    if (steps.empty() || sample.step != steps.back()->step)
      steps.push_back(&sample);
    else if (!steps.back()->time)
      steps.back() = &sample;
  }
  std::vector<Gap> gaps;
  for (std::size_t i = 1; i < steps.size(); ++i)
    if (steps[i]->step > steps[i - 1]->step) gaps.push_back({steps[i - 1], steps[i]});
  return gaps;
}

/// It goes back and forth: a count of what was done since the last report, not of steps.
bool wanders(const std::deque<StepSample>& samples) {
  constexpr std::size_t enough = 4;
  double up = 0;
  double down = 0;
  for (std::size_t i = 1; i < samples.size(); ++i) {
    const double by = samples[i].step - samples[i - 1].step;
    if (by < 0 && samples[i].step * 2 < samples[i - 1].step) return false;  // within epochs
    (by > 0 ? up : down) += std::abs(by);
  }
  return samples.size() >= enough && down > 0 && down * 3 >= up;
}

/// The usual distance of two reports; a long one hides a lost part of the log.
double usual_steps(const std::vector<Gap>& gaps) {
  std::vector<double> steps;
  for (const Gap& gap : gaps) steps.push_back(gap.steps());
  return steps.empty() ? 1 : median_of(std::move(steps));
}

double seconds_between(const lines::Stamp& from, const lines::Stamp& to) {
  double seconds = to.seconds - from.seconds;
  if (!to.dated && seconds < 0) seconds += 86400;
  return seconds;
}

/// By time stamps: the median, or the mean where the clock is too coarse for single gaps.
std::optional<double> by_stamps(const std::vector<Gap>& gaps) {
  std::vector<double> each;
  double seconds = 0;
  double steps = 0;
  double coarse = 0;
  bool fractions = false;  // ".000" may be printed by a clock of whole seconds
  for (const Gap& gap : gaps) {
    if (!gap.from->time || !gap.to->time) continue;
    const double took = seconds_between(*gap.from->time, *gap.to->time);
    if (took < 0) continue;
    each.push_back(took / gap.steps());
    seconds += took;
    steps += gap.steps();
    coarse = std::max(coarse, gap.to->time->resolution_s);
    fractions = fractions || gap.to->time->seconds != std::floor(gap.to->time->seconds);
  }
  if (!fractions) coarse = std::max(coarse, 1.0);
  if (each.empty() || seconds < 3 * coarse || seconds <= 0) return std::nullopt;
  const double mean_gap = seconds / static_cast<double>(each.size());
  return mean_gap < 10 * coarse ? seconds / steps : median_of(std::move(each));
}

constexpr double longest_alone = 30;  ///< seconds of a step that one line may claim
/// Minutes are more often of an epoch or of the whole run than of a step.
constexpr double longest_unproven = 120;

/// Seconds between two reports that somebody waits for; that a sum without a unit grows by.
constexpr double longest_between = 300;
constexpr double shortest_between = 0.05;

constexpr std::size_t enough_clock_gaps = 4;  ///< that a clock may gainsay a named time

/// What a time is held against.
struct TimeCheck {
  std::optional<double> stamps;  ///< seconds of a step by time stamps
  std::optional<double> left;    ///< by what is said to be left
  double interval = 1;           ///< steps between reports
  std::size_t gaps = 0;
};

/// What one time field is, seen over the samples.
class FieldSeries {
 public:
  FieldSeries(std::string key, const std::deque<StepSample>& samples) : key_(std::move(key)) {
    for (const StepSample& sample : samples)
      for (const TimeField& field : sample.times)
        if (field.key == key_) {
          points_.push_back({sample.step, field.seconds, field.covers,
                             std::floor(sample.epoch.value_or(-1)), sample.per_epoch});
          if (field.mean) mean_ = field.mean;
          meaning_ = field.meaning;
          bare_ = field.bare;
        }
  }

  [[nodiscard]] bool names_one_step() const { return meaning_ == TimeMeaning::step; }

  [[nodiscard]] std::optional<StepTime> read(const TimeCheck& check) const {
    if (points_.empty()) return std::nullopt;
    if (const auto covered = by_cover()) return named(*covered, "of the steps it names");
    if (meaning_ == TimeMeaning::interval) return by_distance();
    if (const auto elapsed = by_elapsed(check)) return named(*elapsed, "elapsed, differences");
    if (const auto elapsed = over_epochs()) return named(*elapsed, "elapsed, over epochs");
    if (meaning_ == TimeMeaning::elapsed || (check.stamps && only_grows())) return std::nullopt;
    if (key_.empty() && !names_one_step()) return without_word(check);
    const double value = steady_median();
    // One report, or a word of a sum: nothing confirms it.
    const bool alone = points_.size() < 2 && value > longest_alone;
    const bool sum = alone || meaning_ == TimeMeaning::running;
    if (!names_one_step() && !check.stamps && is_even(check.interval))
      return named(value, "of one step");
    if (!names_one_step() && !check.stamps && sum) return std::nullopt;
    return checked(value, check);
  }

 private:
  struct Point {
    double step, seconds, covers, epoch, per_epoch;
  };

  [[nodiscard]] StepTime named(double seconds, std::string_view how) const {
    return {seconds, fmt::format("{}: {}", key_.empty() ? "a time" : key_, how)};
  }

  /// Of one step, or of all steps since the last report? The clock decides, or what is left.
  [[nodiscard]] std::optional<StepTime> checked(double value, const TimeCheck& check) const {
    const double share = value / check.interval;
    const bool many = check.interval > 1.5;
    const auto& stamps = check.stamps;
    if (!stamps && !names_one_step() && many && is_of_epochs())
      return named(share, "of an epoch's steps");
    if (!stamps && !check.left && !names_one_step() && value > longest_unproven)
      return std::nullopt;
    if (!stamps) {
      // "took 2 s" every 50 steps may be either; "time" is more often that of a step, unless
      // reports would then be many minutes apart.
      const std::string_view word = std::string_view(key_).substr(0, key_.find_last_of('('));
      const bool timed = trim(word).ends_with("time") || word.ends_with("timer");
      if (many && !check.left && !names_one_step() && !timed) return std::nullopt;
      if (many && !check.left && !names_one_step() && value * check.interval > longest_between)
        return named(share, "since last report");
      const bool left = check.left && many && near(share, *check.left, 1.3);
      return left ? named(share, "since last report") : named(value, "of one step");
    }
    if (many && near(share, *stamps, 1.25) && !near(value, *stamps, 1.6))
      return named(share, "since last report");
    const bool trusted =
        names_one_step() && (near(value, *stamps, 3) || check.gaps < enough_clock_gaps);
    if (trusted || near(value, *stamps, 1.6)) return named(value, "of one step");
    if (many && near(share, *stamps, 1.6)) return named(share, "since last report");
    return std::nullopt;
  }

  /// One report for each epoch, of a counter that goes on.
  [[nodiscard]] bool is_of_epochs() const {
    constexpr std::size_t enough = 3;
    for (std::size_t i = 1; i < points_.size(); ++i)
      if (points_[i].epoch <= points_[i - 1].epoch || points_[i].step <= points_[i - 1].step)
        return false;
    return points_.size() >= enough;
  }

  [[nodiscard]] std::optional<double> by_cover() const {
    std::vector<double> each;
    for (const Point& point : points_)
      if (point.covers > 0) each.push_back(point.seconds / point.covers);
    if (each.size() + 1 < points_.size() || each.empty()) return std::nullopt;
    return median_of(std::move(each));
  }

  /// A duration without a word: of the steps since the last such line, where the clock does not say
  /// otherwise. Reports that would come faster than anybody reads may be of one step each.
  [[nodiscard]] std::optional<StepTime> without_word(const TimeCheck& check) const {
    constexpr double far = 10;  // steps between reports that make it a guess
    constexpr double fast = 1;  // seconds between reports
    const double value = steady_median();
    const auto left = check.stamps ? check.stamps : check.left;
    const bool many = check.interval > 1.5;
    if (many && left && near(value, *left, 1.6)) return named(value, "of one step");
    const bool decided = left && near(value / check.interval, *left, 1.6);
    if (!decided && check.interval >= far && value < fast) return std::nullopt;
    return by_distance();
  }

  /// Of the steps since the last such line.
  [[nodiscard]] std::optional<StepTime> by_distance() const {
    std::vector<double> each;
    for (std::size_t i = 1; i < points_.size(); ++i)
      if (points_[i].step > points_[i - 1].step)
        each.push_back(points_[i].seconds / (points_[i].step - points_[i - 1].step));
    if (each.size() < 2) return std::nullopt;
    const double value = median_of(std::move(each));
    if (value > longest_unproven) return std::nullopt;  // a time of day
    return named(value, "since last report");
  }

  /// A sum, whatever of.
  [[nodiscard]] bool only_grows() const {
    constexpr std::size_t enough = 6;
    for (std::size_t i = 1; i < points_.size(); ++i)
      if (points_[i].seconds <= points_[i - 1].seconds) return false;
    return points_.size() >= enough && points_.back().seconds > 2 * points_.front().seconds;
  }

  /// A sum that is printed once in each epoch: "Time elapsed: 1.83 min", "... 1.88 min".
  [[nodiscard]] std::optional<double> over_epochs() const {
    constexpr std::size_t enough = 4;
    constexpr double even = 3;
    if (meaning_ != TimeMeaning::running || points_.size() <= enough) return std::nullopt;
    std::vector<double> each;
    double steps = 0;
    for (std::size_t i = 1; i < points_.size(); ++i) {
      const Point& from = points_[i - 1];
      const Point& to = points_[i];
      const double between = (to.epoch - from.epoch) * to.per_epoch;
      if (to.per_epoch <= 0 || between <= 0 || to.step != from.step) return std::nullopt;
      if (to.seconds <= from.seconds) return std::nullopt;
      each.push_back((to.seconds - from.seconds) / between);
      steps += between;
    }
    const double slope = (points_.back().seconds - points_.front().seconds) / steps;
    const bool grows =
        std::ranges::all_of(each, [&](double value) { return near(value, slope, even); });
    return grows ? std::optional(slope) : std::nullopt;
  }

  /// A time that only grows, about as fast as its share of the counter: seconds since the start.
  [[nodiscard]] std::optional<double> by_elapsed(const TimeCheck& check) const {
    const auto& stamps = check.stamps;
    std::vector<double> each;
    std::size_t falls = 0;
    std::size_t restarts = 0;
    std::size_t same = 0;  // reports between two ticks of a coarse clock
    const Point* last = nullptr;
    for (const Point& point : points_) {
      const bool next = last != nullptr && point.epoch != last->epoch;
      const bool restarted = next && point.seconds <= last->seconds;  // a clock of each epoch
      const bool known = meaning_ == TimeMeaning::elapsed || meaning_ == TimeMeaning::running;
      if (known && last != nullptr && !restarted && point.seconds == last->seconds) {
        ++same;
        continue;
      }
      restarts += restarted ? 1 : 0;
      if (last != nullptr && point.step > last->step && !restarted) {
        if (point.seconds <= last->seconds)
          ++falls;
        else if (!next || restarts == 0)
          each.push_back((point.seconds - last->seconds) / (point.step - last->step));
      }
      last = &point;
    }
    // Hours are of no step: a sum, or the time of day.
    const bool hours = meaning_ == TimeMeaning::running && last->seconds >= 3600;
    const std::size_t enough = meaning_ == TimeMeaning::elapsed || hours ? 1 : 2;
    if (each.size() < enough || falls > 0) return std::nullopt;
    const double ahead = points_.back().step - points_.front().step;
    const bool coarse = same > 0 && restarts == 0 && ahead > 0;
    const double slope =
        coarse ? (points_.back().seconds - points_.front().seconds) / ahead : median_of(each);
    if (bare_ && slope * check.interval < shortest_between) return std::nullopt;
    // A sum of parts ("env-time", "pth-time") is less than what the clock says.
    if (stamps && check.gaps >= enough_clock_gaps && slope < *stamps / 1.5) return std::nullopt;
    // Seconds / slope = steps since the start, which the counter must confirm; a run that was
    // resumed shows more, and needs more reports to be believed.
    const double since = points_.back().seconds / slope;
    const double step = points_.back().step;
    constexpr std::size_t many = 8;
    const bool known = meaning_ == TimeMeaning::elapsed || meaning_ == TimeMeaning::running;
    const bool plausible =
        known || (since < 1.5 * step + 100 && (since > 0.5 * step || each.size() >= many));
    const bool by_clock = stamps && near(slope, *stamps, 1.3);
    const auto within = [&](double factor) {
      return std::ranges::all_of(each, [&](double value) { return near(value, slope, factor); });
    };
    // Growing by the same again and again is what a sum does, wherever it began.
    const bool even = each.size() >= 5 && !key_.empty() && within(1.5);
    if ((!plausible || !(known || within(6))) && !by_clock && !even) return std::nullopt;
    return slope;
  }

  [[nodiscard]] double steady_median() const {
    const auto values = typical();
    return mean_ && scatter(values) ? *mean_ : steady(values);
  }

  /// Without the first report of each epoch, which waits for the loader, where others are left.
  [[nodiscard]] std::vector<double> typical() const {
    std::vector<double> values;
    for (std::size_t i = 1; i < points_.size(); ++i)
      if (points_[i].step > points_[i - 1].step) values.push_back(points_[i].seconds);
    if (values.size() + 1 < points_.size() && values.size() >= 2) return values;
    values.clear();
    for (const Point& point : points_) values.push_back(point.seconds);
    return values;
  }

  /// Steps that wait for data now and then: single ones are not typical, the printed mean is.
  [[nodiscard]] static bool scatter(const std::vector<double>& values) {
    constexpr std::size_t enough = 8;
    constexpr double much = 1.8;
    if (values.size() < enough) return false;
    const double mean = std::accumulate(values.begin() + 1, values.end(), 0.0) /
                        static_cast<double>(values.size() - 1);
    return mean > much * median_of(values);
  }

  /// Reports of every step whose times come and go within narrow bounds: each is of one step,
  /// whatever its word.
  [[nodiscard]] bool is_even(double interval) const {
    constexpr std::size_t enough = 3;
    constexpr std::size_t many = 6;  // for what would be long even for an epoch
    std::size_t falls = 0;
    const double middle = steady_median();
    for (std::size_t i = 1; i < points_.size(); ++i) {
      falls += points_[i].seconds < points_[i - 1].seconds ? 1 : 0;
      if (!near(points_[i].seconds, middle, 1.3)) return false;
    }
    const std::size_t fewest = middle <= longest_unproven ? enough : many;
    return interval < 1.5 && points_.size() >= fewest && falls > 0;
  }

  std::string key_;
  std::vector<Point> points_;
  TimeMeaning meaning_ = TimeMeaning::open;
  std::optional<double> mean_;  ///< the newest that is printed
  bool bare_ = false;           ///< no unit is printed
};

std::optional<double> by_rates(const std::deque<StepSample>& samples) {
  std::vector<double> rates;
  for (const StepSample& sample : samples)
    if (sample.rate_s) rates.push_back(*sample.rate_s);
  if (rates.empty()) return std::nullopt;
  return steady(std::move(rates));
}

std::vector<std::string> time_keys(const std::deque<StepSample>& samples) {
  std::vector<std::string> keys;
  for (const StepSample& sample : samples)
    for (const TimeField& field : sample.times)
      if (std::ranges::find(keys, field.key) == keys.end() && keys.size() < 16)
        keys.push_back(field.key);
  return keys;
}

}  // namespace

std::optional<StepTime> step_time_of(const std::deque<StepSample>& samples) {
  const auto gaps = gaps_of(samples);
  std::vector<double> left;
  for (const StepSample& sample : samples)
    if (sample.eta_s) left.push_back(*sample.eta_s);
  TimeCheck check{by_stamps(gaps), std::nullopt, usual_steps(gaps), gaps.size()};
  if (!left.empty()) check.left = median_of(std::move(left));
  // "[10:00:05] step=13" and then "[Step 12/100]" of two ranks: the clock is of one of them.
  const bool unsteady = !check.stamps && wanders(samples);
  if (unsteady) {
    const auto timed = stamped(samples);
    check.stamps = by_stamps(gaps_of(timed));
  }
  const auto keys = time_keys(samples);
  for (const auto& key : keys)
    if (const FieldSeries field(key, samples); field.names_one_step())
      if (auto found = field.read(check)) return found;
  if (const auto rate = by_rates(samples)) return StepTime{*rate, "printed rate"};
  if (unsteady && !check.stamps) return std::nullopt;
  std::optional<StepTime> open;
  for (const auto& key : keys) {
    const FieldSeries field(key, samples);
    if (field.names_one_step()) continue;
    auto found = field.read(check);
    if (found && (check.stamps || key == "time")) return found;
    // Several times that differ, and nothing says which is the whole.
    if (found && open && !near(found->seconds, open->seconds, 1.6)) return std::nullopt;
    if (found && !open) open = found;
  }
  if (open) return open;
  if (check.stamps) return StepTime{*check.stamps, "time stamps"};
  return std::nullopt;
}

std::optional<double> step_by_stamps(const std::deque<StepSample>& samples) {
  return by_stamps(gaps_of(samples));
}

std::optional<double> recent_step_s(const std::deque<StepSample>& samples, const StepTime& whole) {
  constexpr std::ptrdiff_t fewest = 6;
  for (std::ptrdiff_t count = fewest; count < std::ssize(samples); count *= 4) {
    const auto time = step_time_of({samples.end() - count, samples.end()});
    if (time && time->by == whole.by) return time->seconds;
  }
  return std::nullopt;
}

}  // namespace schedmate::progress
