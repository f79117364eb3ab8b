// SPDX-License-Identifier: Apache-2.0
/// Which numbers of a line are times, rates and throughputs.
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/text.hpp"
#include "log/line_parts.hpp"
#include "log/units.hpp"

namespace schedmate {
namespace {

/// "avg step time", "seconds per batch", "time/iter (ms)": nothing but these words.
bool names_step_time(std::string_view key) {
  constexpr std::array<std::string_view, 13> times = {
      "time",    "timing", "(ms)", "(s)",     "(sec)",    "sec", "secs",
      "seconds", "ms",     "s",    "latency", "duration", "cost"};
  constexpr std::array<std::string_view, 10> steps = {
      "step", "iter", "iteration", "batch", "it", "minibatch", "update", "itr", "ba", "iters"};
  constexpr std::array<std::string_view, 10> others = {
      "per", "avg", "average", "mean", "train", "one", "each", "a", "last", "training"};
  const auto in = [](const auto& list, std::string_view word) {
    return std::ranges::find(list, word) != list.end();
  };
  bool time = false;
  bool step = false;
  for (const auto word : split(key, ' ')) {
    time = time || in(times, word);
    step = step || in(steps, word);
    if (!in(times, word) && !in(steps, word) && !in(others, word)) return false;
  }
  return time && step;
}

class Times {
 public:
  Times(const LineParts& parts, Reading& reading) : parts_(parts), reading_(reading) {}

  void read() {
    double covers = 0;
    for (std::size_t i = 0; i < parts_.numbers.size(); ++i) {
      if (i == parts_.step || i == parts_.epoch || i == parts_.bar) continue;
      // "Time(1000 iters): 1.37s" says of how many steps.
      if (number(i).whole && parts_.words.step.contains(number(i).unit) &&
          has_word(key(i), parts_.words.time)) {
        covers = number(i).value;
        continue;
      }
      if (const auto rate = step_rate(i); rate && !reading_.bar_step_s) {
        reading_.bar_step_s = rate;
        continue;
      }
      add_time(i, std::exchange(covers, 0));
    }
    if (!reading_.bar_step_s) reading_.bar_step_s = words_rate();
    find_throughput();
  }

 private:
  [[nodiscard]] const Number& number(std::size_t i) const { return parts_.numbers[i]; }
  [[nodiscard]] const std::string& key(std::size_t i) const { return parts_.keys[i]; }

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

  void add_time(std::size_t i, double covers) {
    const bool known = parts_.format != nullptr && !parts_.format->time.empty();
    const bool told = known && parts_.format->time == key(i);
    const bool ended_at = has_word(key(i), parts_.words.epoch) && key(i).contains(" at ");
    if (!ended_at && has_word(key(i), parts_.words.epoch) && has_word(key(i), parts_.words.time)) {
      reading_.epoch_s = seconds_of(number(i), key(i));
      return;
    }
    if ((known && !told) || is_other_unit(key(i)) || parts_.words.throughput.contains(key(i)))
      return;
    if (is_eta(i)) reading_.eta_s = seconds_of(number(i), key(i));
    // "(1228.2 ms)": nobody counts reports in milliseconds.
    const bool bare_ms = key(i).empty() && number(i).unit == "ms";
    const bool step =
        bare_ms || told || parts_.words.step_time.contains(key(i)) || names_step_time(key(i));
    const auto seconds = seconds_of(number(i), key(i));
    const bool some = covers > 0 || (seconds && (number(i).clock || has_unit(number(i)))) ||
                      has_word(key(i), parts_.words.time);
    if ((!step && !some) || (!step && !ended_at && has_word(key(i), parts_.words.part))) return;
    if (parts_.bar && number(i).clock) return;  // elapsed and remaining of a bar
    const double value = seconds.value_or(number(i).value);
    if (!std::isfinite(value) || value <= 0 || number(i).percent) return;
    if (!seconds && !number(i).unit.empty()) return;  // "speed 23 samples/s"
    TimeMeaning meaning = step ? TimeMeaning::step : TimeMeaning::open;
    const bool sum = number(i).clock || has_word(key(i), parts_.words.running);
    if (!step && sum) meaning = TimeMeaning::running;
    if (parts_.format != nullptr && parts_.format->elapsed && told) meaning = TimeMeaning::elapsed;
    if (covers == 0 && !step && parts_.step) covers = number(*parts_.step).range;
    std::optional<double> mean = number(i).mean;
    if (mean) *mean *= value / number(i).value;
    reading_.times.push_back({key(i), value, meaning, covers, mean});
  }

  void find_throughput() {
    for (std::size_t i = 0; i < parts_.numbers.size(); ++i) {
      const auto& unit = number(i).unit;
      const bool by_unit = unit.contains('/') && !unit.starts_with("s/") &&
                           !seconds_of_rate(number(i)) &&
                           (unit.ends_with("/s") || unit.ends_with("/sec") || unit.contains("/s/"));
      const bool by_key = parts_.words.throughput.contains(key(i)) && number(i).value > 0;
      if ((!by_unit && !by_key) || has_word(key(i), parts_.words.held_out)) continue;
      reading_.throughput = Throughput{number(i).value, unit.empty() ? key(i) : unit};
      return;
    }
  }

  const LineParts& parts_;
  Reading& reading_;
};

}  // namespace

void read_times(const LineParts& parts, Reading& reading) { Times(parts, reading).read(); }

}  // namespace schedmate
