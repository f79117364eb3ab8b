// SPDX-License-Identifier: Apache-2.0
#include "log/progress/line_meaning.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "log/progress/columns_of_numbers.hpp"
#include "log/progress/line_parts.hpp"

namespace schedmate::progress {
namespace {

constexpr double shortest_step_s = 1e-5;
constexpr double longest_step_s = 86400;
constexpr std::size_t least_rises = 3;

/// The lines that have as many places as most.
std::vector<ShapeLine> alike_lines(std::span<const ShapeLine> lines) {
  std::map<std::size_t, std::size_t> counts;
  for (const ShapeLine& line : lines) ++counts[line.places.size()];
  std::size_t most = 0;
  for (const auto& [places, count] : counts)
    if (most == 0 || count > counts[most]) most = places;
  std::vector<ShapeLine> kept;
  for (const ShapeLine& line : lines)
    if (line.places.size() == most) kept.push_back(line);
  return kept;
}

class MeaningCheck {
 public:
  MeaningCheck(std::span<const ShapeLine> lines, const LineMeaning& claimed, const LogWords& words)
      : lines_(alike_lines(lines)), claimed_(claimed), words_(words) {
    made_.checked.kept.time_unit_s = claimed.time_unit_s;
    made_.checked.kept.covers = claimed.covers;
  }

  ShapeProgress run() {
    if (lines_.empty()) return std::move(made_);
    LineMeaning& kept = made_.checked.kept;
    kept.step = judge("step", claimed_.step, [this](std::size_t i) { return fault_of_step(i); });
    steps_ = steps();
    kept.total =
        judge("total", claimed_.total, [this](std::size_t i) { return fault_of_total(i); });
    kept.epoch =
        judge("epoch", claimed_.epoch, [this](std::size_t i) { return fault_of_epoch(i); });
    kept.time = judge("time", claimed_.time, [this](std::size_t i) { return fault_of_time(i); });
    kept.loss = judge("loss", claimed_.loss, [this](std::size_t i) { return fault_of_loss(i); });
    take_last(kept);
    return std::move(made_);
  }

 private:
  [[nodiscard]] const LinePlace& place(std::size_t i) const { return lines_.back().places[i]; }
  [[nodiscard]] std::size_t places() const { return lines_.back().places.size(); }
  [[nodiscard]] std::vector<double> column(std::size_t i) const {
    std::vector<double> values;
    for (const ShapeLine& line : lines_) values.push_back(line.places[i].value);
    return values;
  }
  [[nodiscard]] bool all_whole(std::size_t i) const {
    return std::ranges::all_of(lines_, [&](const ShapeLine& line) { return line.places[i].whole; });
  }

  template <class Fault>
  std::optional<std::size_t> judge(std::string_view role, std::optional<std::size_t> i,
                                   const Fault& fault_of) {
    if (!i) return std::nullopt;
    std::string fault;
    if (*i >= places())
      fault = "there is no such place";
    else if (std::ranges::find(taken_, *i) != taken_.end())
      fault = "it is something else already";
    else
      fault = fault_of(*i);
    if (fault.empty()) {
      taken_.push_back(*i);
      return i;
    }
    made_.checked.dropped.push_back(fmt::format("{} at place {}: {}", role, *i, fault));
    return std::nullopt;
  }

  [[nodiscard]] bool has_total(std::size_t i) const {
    return i + 1 < places() && place(i + 1).total;
  }

  /// Rises from line to line as a counter does.
  [[nodiscard]] bool counts(std::size_t i) const {
    if (place(i).percent || place(i).clock || place(i).total || !is_count(column(i))) return false;
    const Rise rise = rise_of(column(i));
    return rise.up >= least_rises && rise.up * 3 >= lines_.size() - 1 && rise.falls == 0 &&
           rise.restarts * 3 <= rise.up;
  }

  [[nodiscard]] std::string fault_of_step(std::size_t i) const {
    const LinePlace& here = place(i);
    const bool named = words_.step.contains(last_word(here.key));
    if (!counts(i)) return "it does not rise as a counter does";
    if (is_time_place(here, words_) || is_other_place(here, words_) ||
        (!here.key.empty() && has_word(here.key, words_.not_step)))
      return fmt::format("it is called '{}'", here.key.empty() ? here.unit : here.key);
    if (words_.epoch.contains(last_word(here.key))) return "it is called an epoch";
    if (named || has_total(i)) return "";
    const double by = rise_of(column(i)).usual;
    for (std::size_t other = 0; other < places(); ++other) {
      const bool slower = other != i && !is_time_place(place(other), words_) && counts(other) &&
                          rise_of(column(other)).usual < by;
      if (slower) return fmt::format("place {} counts too, and slower", other);
    }
    return grows_as_the_clock(column(i)) ? "it grows as the clock does" : "";
  }

  /// Seconds or milliseconds since some start.
  [[nodiscard]] bool grows_as_the_clock(const std::vector<double>& values) const {
    if (!lines_.front().time || !lines_.back().time) return false;
    const double seconds = lines_.back().time->seconds - lines_.front().time->seconds;
    const double grown = values.back() - values.front();
    return seconds >= 10 && (near(grown, seconds, 1.02) || near(grown, 1000 * seconds, 1.02));
  }

  [[nodiscard]] std::vector<double> steps() const {
    if (made_.checked.kept.step) return column(*made_.checked.kept.step);
    std::vector<double> known;
    for (const ShapeLine& line : lines_)
      if (line.step) known.push_back(*line.step);
    return known.size() == lines_.size() ? known : std::vector<double>();
  }

  [[nodiscard]] std::string fault_of_total(std::size_t i) const {
    const auto values = column(i);
    if (steps_.empty()) return "there is no step that it could be the total of";
    if (!is_count(values) || values.front() != values.back() || is_time_place(place(i), words_))
      return "it is no constant count";
    if (values.back() < *std::ranges::max_element(steps_)) return "the step is beyond it";
    const bool pair = place(i).total && made_.checked.kept.step == i - 1;
    const auto word = last_word(place(i).key);
    const bool named = word == "total" || word == "max" || word == "of" || word == "steps";
    return pair || named || place(i).key.empty() ? "" : fmt::format("it is called '{}'", word);
  }

  [[nodiscard]] std::string fault_of_epoch(std::size_t i) const {
    const auto values = column(i);
    const Rise rise = rise_of(values);
    if (!std::ranges::all_of(values, [](double each) { return each >= 0 && each < 1e6; }) ||
        rise.falls + rise.restarts > 0 || place(i).percent || is_time_place(place(i), words_))
      return "it does not grow as an epoch does";
    if (words_.epoch.contains(last_word(place(i).key))) return "";
    const bool slow = rise.up > 0 && rise.largest <= 1 && rise.up * 2 < lines_.size();
    const bool share = rise.up > 0 && rise.largest <= 1 && !is_count(values);
    return slow || share ? "" : "nothing shows that it counts epochs";
  }

  [[nodiscard]] std::string fault_of_loss(std::size_t i) const {
    const LinePlace& here = place(i);
    const auto values = column(i);
    static const WordSet loss = {"loss"};
    const bool named = has_word(here.key, loss) && !has_word(here.key, words_.held_out);
    const bool elsewise = has_word(here.key, words_.part) || has_word(here.key, words_.epoch) ||
                          has_word(here.key, words_.step);
    if (!named && (elsewise || is_other_place(here, words_) || is_time_place(here, words_)))
      return fmt::format("it is called '{}'", here.key.empty() ? here.unit : here.key);
    if (!std::ranges::all_of(values, [](double each) { return std::abs(each) < 1e9; }))
      return "it is not finite";
    if (all_whole(i) || !here.unit.empty() || here.percent || here.total) return "it is a count";
    const std::set<double> different(values.begin(), values.end());
    if (different.size() * 2 < values.size()) return "it hardly ever changes";
    return is_even(values) ? "it changes evenly, as a schedule does" : "";
  }

  /// Seconds of one step by this place, at each line where they follow.
  [[nodiscard]] std::vector<double> step_seconds(std::size_t i) const {
    const double unit = place(i).unit_s.value_or(claimed_.time_unit_s);
    std::vector<double> each;
    for (std::size_t at = 0; at < lines_.size(); ++at) {
      const double value = lines_[at].places[i].value * unit;
      const double by = at > 0 ? steps_[at] - steps_[at - 1] : 0;
      if (claimed_.covers == TimeCover::one_step) each.push_back(value);
      if (by <= 0 || claimed_.covers == TimeCover::one_step) continue;
      const double before = lines_[at - 1].places[i].value * unit;
      each.push_back((claimed_.covers == TimeCover::since_start ? value - before : value) / by);
    }
    const std::size_t warm_up = each.size() >= 8 ? 2 : 1;
    if (each.size() >= 4) each.erase(each.begin(), each.begin() + static_cast<long>(warm_up));
    return each;
  }

  [[nodiscard]] std::string fault_of_time(std::size_t i) {
    const LinePlace& here = place(i);
    if (steps_.empty()) return "there is no step that it could be the time of";
    if (here.unit_s && !here.clock && !near(*here.unit_s, claimed_.time_unit_s, 1.01))
      return fmt::format("its unit is '{}'", here.unit.empty() ? here.key : here.unit);
    if (is_other_place(here, words_) || has_word(here.key, words_.part) || here.total)
      return fmt::format("it is called '{}'", here.key);
    const auto values = column(i);
    if (!std::ranges::all_of(values, [](double v) { return std::isfinite(v) && v > 0; }))
      return "it is not positive everywhere";
    if (auto fault = fault_of_cover(i); !fault.empty()) return fault;
    const auto each = step_seconds(i);
    if (each.size() < least_rises) return "too few lines show it";
    const double seconds = median_of(each);
    if (!(seconds >= shortest_step_s && seconds <= longest_step_s))
      return fmt::format("{:.3g} s are no step", seconds);
    const auto stamps = step_time_of(samples());
    const bool has_time_word = is_time_place(here, words_);
    if (stamps && !near(seconds, stamps->seconds, has_time_word ? 1.6 : 1.05))
      return fmt::format("{:.3g} s a step, the time stamps say {:.3g}", seconds, stamps->seconds);
    if (!stamps && !has_time_word) return "neither a unit nor a clock shows that it is a time";
    if (!stamps && others_are_times(i)) return "several numbers are times, and no clock decides";
    constexpr std::array covers = {"of one step", "since last report", "elapsed, differences"};
    made_.step_time = StepTime{seconds, covers.at(static_cast<std::size_t>(claimed_.covers))};
    return "";
  }

  /// What the values themselves say against the kind of time.
  [[nodiscard]] std::string fault_of_cover(std::size_t i) const {
    const Rise rise = rise_of(column(i));
    const bool sum = rise.up + 1 >= lines_.size();  // it only grows
    if (claimed_.covers == TimeCover::since_start)
      return rise.falls == 0 && rise.up >= least_rises && rise.restarts * 3 <= rise.up
                 ? ""
                 : "it does not grow as a sum does";
    if (sum) return "it grows as a sum does";
    const bool many = rise_of(steps_).usual > 1.5;
    const bool clocked = lines_.front().time && lines_.back().time;
    return many && !clocked ? "of one step or of many? no clock decides" : "";
  }

  [[nodiscard]] bool others_are_times(std::size_t i) const {
    for (std::size_t other = 0; other < places(); ++other) {
      const LinePlace& there = place(other);
      if (other != i && is_time_place(there, words_) && !has_word(there.key, words_.part) &&
          !words_.step_time.contains(place(i).key))
        return true;
    }
    return false;
  }

  [[nodiscard]] std::deque<StepSample> samples() const {
    std::deque<StepSample> made;
    for (std::size_t at = 0; at < steps_.size(); ++at) {
      StepSample sample;
      sample.step = steps_[at];
      sample.time = lines_[at].time;
      made.push_back(std::move(sample));
    }
    return made;
  }

  void take_last(const LineMeaning& kept) {
    const auto last = [&](std::optional<std::size_t> i) {
      return i ? std::optional(place(*i).value) : std::nullopt;
    };
    made_.step = last(kept.step);
    made_.total = last(kept.total);
    made_.epoch = last(kept.epoch);
    made_.loss = last(kept.loss);
    if (!made_.step_time && kept.step) made_.step_time = step_time_of(samples());
  }

  std::vector<ShapeLine> lines_;
  const LineMeaning& claimed_;
  const LogWords& words_;
  std::vector<std::size_t> taken_;
  std::vector<double> steps_;
  ShapeProgress made_;
};

}  // namespace

ShapeProgress check_meaning(std::span<const ShapeLine> lines, const LineMeaning& claimed,
                            const LogWords& words) {
  return MeaningCheck(lines, claimed, words).run();
}

}  // namespace schedmate::progress
