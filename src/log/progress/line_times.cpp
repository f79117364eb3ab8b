// SPDX-License-Identifier: Apache-2.0
#include "log/progress/line_times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/text.hpp"
#include "log/progress/units.hpp"

namespace schedmate::progress {
namespace {

/// "avg step time", "seconds per batch", "time/iter (ms)": nothing but these words.
bool names_step_time(std::string_view key) {
  constexpr std::array<std::string_view, 15> times = {
      "time", "timing", "(ms)", "(s)",     "(sec)",    "sec",  "secs", "seconds",
      "ms",   "s",      "t",    "latency", "duration", "cost", "dt"};
  constexpr std::array<std::string_view, 10> steps = {
      "step", "iter", "iteration", "batch", "it", "minibatch", "update", "itr", "ba", "iters"};
  constexpr std::array<std::string_view, 10> others = {
      "per", "avg", "average", "mean", "train", "one", "each", "a", "last", "training"};
  const auto in = [](const auto& list, std::string_view word) {
    return std::ranges::find(list, word) != list.end();
  };
  bool time = false;
  bool step = false;
  for (auto word : split(key, ' ')) {
    const auto open = word.rfind('(');  // "step_time(ms)"
    if (open != std::string_view::npos && open > 0) word = word.substr(0, open);
    time = time || in(times, word);
    step = step || in(steps, word);
    // "elapsed time per step" is no sum, "elapsed step time" may be one.
    const bool one = word == "elapsed" && key.contains("per ");
    if (!in(times, word) && !in(steps, word) && !in(others, word) && !one) return false;
  }
  return time && step;
}

/// What stands between a number of steps and their time: "100 steps take 1.2 s", "last 100 iters:
/// 3 s".
bool joins_cover(std::string_view key, const WordSet& steps) {
  constexpr std::array<std::string_view, 8> verbs = {"take", "takes", "took", "in",
                                                     "time", "cost",  "used", "using"};
  const auto words = split(key, ' ');
  return steps.contains(words.front()) && words.front().ends_with('s') &&
         std::all_of(words.begin() + 1, words.end(),
                     [&](auto word) { return std::ranges::find(verbs, word) != verbs.end(); });
}

/// "time" of "time(ms)".
std::string_view without_unit(std::string_view key) {
  const auto open = key.ends_with(')') ? key.rfind('(') : std::string_view::npos;
  return open == std::string_view::npos || open == 0 ? key : key.substr(0, open);
}

class Times {
 public:
  Times(const LineParts& parts, Reading& reading) : parts_(parts), reading_(reading) {}

  void read() {
    if (parts_.bar_of_epochs) return;
    double covers = 0;
    for (std::size_t i = 0; i < parts_.numbers.size(); ++i) {
      if (i == parts_.step || i == parts_.epoch || i == parts_.bar) continue;
      if (gives_count(i)) {
        covers = number(i).value;
        continue;
      }
      if (const auto rate = step_rate(i); rate && !reading_.bar_step_s) {
        reading_.bar_step_s = rate;
        continue;
      }
      add_time(i, std::exchange(covers, 0));
    }
    if (const auto sum = sum_of_bar(); sum && parts_.step) {
      const double seconds = seconds_of(number(*sum), key(*sum)).value_or(0);
      reading_.times = {{key(*sum), seconds, TimeMeaning::step, number(*parts_.step).value}};
    }
    if (!reading_.bar_step_s) reading_.bar_step_s = words_rate();
    find_throughput();
  }

 private:
  [[nodiscard]] const lines::Number& number(std::size_t i) const { return parts_.numbers[i]; }
  [[nodiscard]] const std::string& key(std::size_t i) const { return parts_.keys[i]; }

  /// "Time(1000 iters): 1.37s", "100 steps take 1.37 s": the time that follows is of so many.
  [[nodiscard]] bool gives_count(std::size_t i) const {
    if (!number(i).whole || number(i).value < 1) return false;
    if (parts_.words.step.contains(number(i).unit) && has_word(key(i), parts_.words.time))
      return true;
    return number(i).unit.empty() && !number(i).total && i + 1 < parts_.numbers.size() &&
           has_unit(number(i + 1)) && joins_cover(key(i + 1), parts_.words.step);
  }

  /// Seconds of one step from a printed rate ("ups=0.44", "global_step/sec: 5.6").
  [[nodiscard]] std::optional<double> step_rate(std::size_t i) const {
    if (const auto rate = seconds_of_rate(number(i)); rate && !has_word(key(i), parts_.words.part))
      return rate;
    if (!names_rate(key(i)) || number(i).value <= 0 || !number(i).unit.empty()) return std::nullopt;
    return 1 / number(i).value;
  }

  /// Words of a batch by words of a second.
  [[nodiscard]] std::optional<double> words_rate() const {
    for (const auto& [batch, second] : {std::pair{"wpb", "wps"}, {"words batch", "words s"}}) {
      const auto one = parts_.index_of(batch);
      const auto other = parts_.index_of(second);
      if (one && other && number(*one).value > 0 && number(*other).value > 0)
        return number(*one).value / number(*other).value;
    }
    return std::nullopt;
  }

  /// A rate of steps by the whole key or its last words.
  [[nodiscard]] bool names_rate(std::string_view name) const {
    if (has_word(name, parts_.words.held_out)) return false;
    while (true) {
      if (parts_.words.rate.contains(name)) return true;
      const auto space = name.find(' ');
      if (space == std::string_view::npos) return false;
      name.remove_prefix(space + 1);
    }
  }

  /// "Per sample total time": of less than a step, nobody says of how much less.
  [[nodiscard]] static bool is_of_a_part(std::string_view name) {
    if (!name.contains("per ")) return false;
    const auto words = split(name, ' ');
    const auto per = std::ranges::find(words, "per");
    if (words.end() - per < 2) return false;
    constexpr std::array<std::string_view, 14> parts = {
        "sample", "samples", "image", "images", "example",  "examples", "token",
        "tokens", "seq",     "frame", "item",   "sentence", "instance", "utt"};
    return std::ranges::find(parts, per[1]) != parts.end();
  }

  /// "Speed (samples/sec)" is no time.
  [[nodiscard]] static bool is_other_unit(std::string_view name) {
    const auto open = name.rfind('(');
    if (!name.ends_with(')') || open == std::string_view::npos) return false;
    return name.substr(open).contains(' ');  // plain keys have no slash
  }

  /// What is left, of which the speed follows; of a bar its rate is better.
  [[nodiscard]] bool is_eta(std::size_t i) const {
    const auto word = std::string_view(key(i)).substr(0, key(i).find(' '));
    const bool named = word == "eta" || word == "remaining" || last_word(key(i)) == "left";
    return named && !parts_.bar && seconds_of(number(i), key(i)).value_or(0) > 0;
  }

  /// "tps: 2.95s" is the time of a step in spite of its name.
  [[nodiscard]] bool is_throughput(std::size_t i) const {
    return parts_.words.throughput.contains(key(i)) && !has_unit(number(i));
  }

  /// "[=== 391/391 ==>]  Step: 77ms | Tot: 45s8ms": the sum says more of the steps than the last
  /// of them does, which is a smaller batch.
  [[nodiscard]] std::optional<std::size_t> sum_of_bar() const {
    if (!parts_.bar || reading_.bar_step_s) return std::nullopt;
    const auto sum = parts_.index_of("tot");
    const bool timed = sum && (number(*sum).clock || has_unit(number(*sum)));
    return timed && parts_.index_of("step") ? sum : std::nullopt;
  }

  void add_time(std::size_t i, double covers) {
    const bool known = parts_.format != nullptr && !parts_.format->time.empty();
    const bool is_time_of_format = known && parts_.format->time == key(i);
    const bool ended_at = has_word(key(i), parts_.words.epoch) && key(i).contains(" at ");
    if (!ended_at && has_word(key(i), parts_.words.epoch) && has_word(key(i), parts_.words.time)) {
      reading_.epoch_s = seconds_of(number(i), key(i));
      return;
    }
    if ((known && !is_time_of_format) || is_other_unit(key(i)) || is_throughput(i)) return;
    if (is_of_a_part(key(i))) return;
    if (is_eta(i)) reading_.eta_s = seconds_of(number(i), key(i));
    // "(1228.2 ms)": nobody counts reports in milliseconds.
    const bool bare_ms = key(i).empty() && number(i).unit == "ms";
    const bool step = bare_ms || is_time_of_format || is_step_itself(parts_, i) ||
                      parts_.words.step_time.contains(key(i)) || names_step_time(key(i));
    const auto seconds = seconds_of(number(i), key(i));
    // "3.1 s/100 iters"
    if (has_unit(number(i)) && parts_.words.step.contains(number(i).total_unit))
      covers = number(i).total.value_or(0);
    // A path may have such a word, too.
    constexpr std::ptrdiff_t most_blanks = 5;
    const bool word = std::ranges::count(key(i), ' ') <= most_blanks &&
                      has_word(without_unit(key(i)), parts_.words.time);
    const bool some = covers > 0 || (seconds && (number(i).clock || has_unit(number(i)))) || word;
    if ((!step && !some) || (!step && !ended_at && has_word(key(i), parts_.words.part))) return;
    if (parts_.bar && number(i).clock) return;  // elapsed and remaining of a bar
    const double value = seconds.value_or(number(i).value);
    if (!std::isfinite(value) || value <= 0 || number(i).percent) return;
    if (!seconds && !number(i).unit.empty()) return;  // "speed 23 samples/s"
    TimeMeaning meaning = step ? TimeMeaning::step : TimeMeaning::open;
    const bool sum = number(i).clock || has_word(key(i), parts_.words.running);
    if (!step && sum) meaning = TimeMeaning::running;
    if (parts_.format != nullptr && parts_.format->elapsed && is_time_of_format)
      meaning = TimeMeaning::elapsed;
    if (covers == 0 && !step && parts_.step) covers = number(*parts_.step).range;
    std::optional<double> mean = number(i).mean;
    if (mean) *mean *= value / number(i).value;
    const bool scaled =
        parts_.format != nullptr && is_time_of_format && parts_.format->time_unit_s > 0;
    const double unit_s = scaled && !seconds ? parts_.format->time_unit_s : 1;
    reading_.times.push_back(
        {own_key(i), value * unit_s, meaning, covers, mean, !seconds && unit_s == 1});
  }

  /// Two times without a word are two series.
  [[nodiscard]] std::string own_key(std::size_t i) const {
    const auto same = std::ranges::count(reading_.times, key(i), &TimeField::key);
    return same == 0 ? key(i) : fmt::format("{} #{}", key(i), same + 1);
  }

  void find_throughput() {
    for (std::size_t i = 0; i < parts_.numbers.size(); ++i) {
      const auto& unit = number(i).unit;
      const bool by_unit = unit.contains('/') && !unit.starts_with("s/") &&
                           !seconds_of_rate(number(i)) &&
                           (unit.ends_with("/s") || unit.ends_with("/sec") || unit.contains("/s/"));
      const bool by_key = is_throughput(i) && number(i).value > 0;
      if ((!by_unit && !by_key) || has_word(key(i), parts_.words.held_out)) continue;
      reading_.throughput = Throughput{number(i).value, unit.empty() ? key(i) : unit};
      return;
    }
  }

  const LineParts& parts_;
  Reading& reading_;
};

}  // namespace

/// A unit, a mean or a fraction behind the word show it.
bool is_step_itself(const LineParts& parts, std::size_t i) {
  const lines::Number& number = parts.numbers[i];
  const std::string& key = parts.keys[i];
  if (!parts.words.step.contains(key) || number.percent || number.total) return false;
  if (has_unit(number)) return true;
  const bool fraction = !number.whole && number.unit.empty();
  return fraction && (number.mean || key == "batch" || key == "iter");
}

void read_times(const LineParts& parts, Reading& reading) { Times(parts, reading).read(); }

}  // namespace schedmate::progress
