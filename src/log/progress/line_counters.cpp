// SPDX-License-Identifier: Apache-2.0
#include "log/progress/line_counters.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/text.hpp"
#include "log/progress/line_times.hpp"
#include "log/progress/units.hpp"

namespace schedmate::progress {
namespace {

class Counters {
 public:
  Counters(LineParts& parts, Reading& reading) : parts_(parts), reading_(reading) {}

  void read() {
    find_bar();
    if (parts_.bar && counts_epochs(*parts_.bar)) return take_epoch_bar(*parts_.bar);
    for (std::size_t i = 0; i < size(); ++i)
      if (take_epoch_and_step(i) || take_list(i)) return;
    find_epoch();
    find_step();
  }

 private:
  [[nodiscard]] const lines::Number& number(std::size_t i) const { return parts_.numbers[i]; }
  [[nodiscard]] const std::string& key(std::size_t i) const { return parts_.keys[i]; }
  [[nodiscard]] std::size_t size() const { return parts_.numbers.size(); }
  [[nodiscard]] bool is_pair(std::size_t i) const {
    return i < size() && number(i).total && number(i).whole;
  }

  /// "16/38 [00:04<00:05, 3.81it/s": a counter, a clock, a rate of one step.
  void find_bar() {
    for (std::size_t i = 0; i + 1 < size(); ++i) {
      if (!is_pair(i)) continue;
      const bool clock = number(i + 1).clock && (number(i + 1).in_brackets || is_rich(i));
      for (std::size_t k = i + 1; k < std::min(i + 5, size()); ++k) {
        const auto rate = seconds_of_rate(number(k));
        const bool counted = number(i).unit == "it" || number(k).unit.contains("step") ||
                             (k == i + 1 && i > 0 && number(i - 1).percent);
        if (!rate || (!clock && !counted)) continue;
        parts_.bar = i;
        reading_.bar = true;
        reading_.bar_step_s = rate;
        return;
      }
      if (clock || is_drawn(i)) parts_.bar = i;
    }
  }

  /// "30/1000 0:00:10 • 0:01:20 11.02it/s" of rich.
  [[nodiscard]] bool is_rich(std::size_t i) const {
    return number(i + 1).key.empty() && i + 2 < size() &&
           parts_.body.find("\u2022", number(i + 1).at) != std::string_view::npos;
  }

  /// "64/227 [=====>....] - ETA: 1:03", "[==== 64/227 ==>....]"
  [[nodiscard]] bool is_drawn(std::size_t i) const {
    const auto before = trim(parts_.body.substr(0, number(i).at));
    const bool bar = before.size() > 2 && before.starts_with('[');
    if (bar && before.find_first_not_of("=>.", 1) == std::string_view::npos) return true;
    const auto behind = parts_.body.substr(number(i).at, number(i + 1).at - number(i).at);
    return behind.contains("[=") || behind.contains("[>") || behind.contains("[..");
  }

  /// "Epochs:  10%|#   | 3/30 [03:06<27:54, 62.01s/it": each of its steps is an epoch.
  [[nodiscard]] bool counts_epochs(std::size_t bar) const {
    if (bar != 1 || !number(0).percent) return false;
    return parts_.words.epoch.contains(key(0));
  }

  void take_epoch_bar(std::size_t bar) {
    take_epoch(bar);
    reading_.epoch_s = std::exchange(reading_.bar_step_s, std::nullopt);
    reading_.bar = false;
    parts_.bar_of_epochs = true;
  }

  void take_epoch(std::size_t i) {
    reading_.epoch = number(i).value;
    reading_.total_epochs = number(i).total;
    parts_.epoch = i;
  }

  void find_epoch() {
    for (std::size_t i = 0; i < size(); ++i) {
      const bool named =
          parts_.words.epoch.contains(last_word(key(i))) || key(i).starts_with("epoch");
      const bool unit = number(i).unit == "epoch" || number(i).unit == "epochs";
      if ((!named && !unit) || number(i).percent || key(i).contains("time")) continue;
      return take_epoch(i);
    }
    if (parts_.bar) {
      // "30/299 ... 16/38 [": of two pairs without a name the first counts epochs.
      for (std::size_t i = 0; i < *parts_.bar; ++i)
        if (is_pair(i) && key(i).empty()) return take_epoch(i);
      return;
    }
    // "Train: [5/300][120/1251]", "TRAIN [0][100/6832]", "Train: 3 [50/1251 (4%)]"
    for (std::size_t i = 0; i + 1 < size() && i < 4; ++i) {
      const auto word = last_word(key(i));
      const bool train = word.empty() || word == "train" || word == "training";
      auto next = i + 1;
      if (next + 1 < size() && number(next).percent) ++next;
      if (train && number(i).whole && number(i).unit.empty() && is_pair(next) &&
          number(next).in_brackets && key(next).empty())
        return take_epoch(i);
    }
  }

  [[nodiscard]] bool is_step_key(std::size_t i) const {
    if (has_word(key(i), parts_.words.not_step)) return false;
    return parts_.words.step.contains(last_word(key(i))) ||
           (key(i).empty() && parts_.words.step.contains(number(i).unit));
  }

  [[nodiscard]] bool can_count(std::size_t i) const {
    const lines::Number& each = number(i);
    const bool whole = each.whole || each.value == std::floor(each.value);
    return whole && each.value >= 0 && !each.percent && !each.clock && i != parts_.epoch &&
           std::isfinite(each.value) && !has_unit(each);  // "Step: 120ms" is a time
  }

  [[nodiscard]] std::optional<std::size_t> of_format() const {
    if (parts_.format == nullptr || parts_.format->step.empty()) return std::nullopt;
    if (const auto i = parts_.index_of(parts_.format->step)) return i;
    for (std::size_t i = 0; i < size(); ++i)
      if (number(i).unit == parts_.format->step) return i;
    return std::nullopt;
  }

  /// "[0] [140/752]": a pair without a name behind the epoch.
  [[nodiscard]] std::optional<std::size_t> behind_epoch() const {
    if (!parts_.epoch) return std::nullopt;
    auto next = *parts_.epoch + 1;
    if (next < size() && number(next).percent) ++next;
    if (next >= size() || !can_count(next) || !key(next).empty()) return std::nullopt;
    // "Epoch: [35][50]" needs no total.
    const bool pair = number(*parts_.epoch).in_brackets && number(next).in_brackets;
    return number(next).total || pair ? std::optional(next) : std::nullopt;
  }

  /// "100/100 - 12s - loss: 0.5 - 120ms/step": a pair without a name at the head of a line that has
  /// the time of a step.
  [[nodiscard]] bool leads(std::size_t i) const {
    if (!is_pair(i) || !can_count(i) || !key(i).empty() || number(i).at > 2) return false;
    for (std::size_t k = 0; k < size(); ++k) {
      const bool rate = number(k).unit.contains('/') && seconds_of_rate(number(k));
      if (rate || is_step_itself(parts_, k)) return true;
    }
    return false;
  }

  /// "epoch/iter: 1/600"
  [[nodiscard]] bool take_epoch_and_step(std::size_t i) {
    const auto& words = parts_.words;
    const auto first = key(i).substr(0, key(i).find(' '));
    if (!is_pair(i) || !words.epoch.contains(first) || !words.step.contains(last_word(key(i))))
      return false;
    reading_.epoch = number(i).value;
    reading_.step = number(i).total;
    reading_.step_key = key(i);
    parts_.epoch = parts_.step = i;
    return true;
  }

  /// "step": [43, 3300]: the epoch, and the step of the run.
  [[nodiscard]] bool take_list(std::size_t i) {
    if (i + 1 >= size() || !number(i).in_brackets || !is_step_key(i) || !can_count(i) ||
        !can_count(i + 1) || number(i).total || !key(i + 1).empty())
      return false;
    const auto list = parts_.body.substr(number(i).at, number(i + 1).at - number(i).at);
    const auto behind = parts_.body.substr(number(i + 1).at);
    const auto end = behind.find_first_not_of("0123456789");
    if (!list.ends_with(", ") || end == std::string_view::npos || behind[end] != ']') return false;
    reading_.epoch = number(i).value;
    reading_.step = number(i + 1).value;
    reading_.step_key = key(i);
    parts_.epoch = i;
    parts_.step = i + 1;
    return true;
  }

  /// The words of a bar stand before its percentage.
  [[nodiscard]] bool counts_steps(std::size_t bar) const {
    const bool percent = bar > 0 && number(bar - 1).percent;
    return is_step_key(bar) || (percent && is_step_key(bar - 1));
  }

  void find_step() {
    std::optional<std::size_t> found = of_format();
    if (!found) found = parts_.bar;
    for (std::size_t i = 0; !found && i < size(); ++i)
      if (can_count(i) && number(i).total && is_step_key(i)) found = i;
    if (!found) found = behind_epoch();
    // "steps: 5%| 89/1600" counts over the run, a bar of another name over an epoch.
    const bool of_epoch = found && found == parts_.bar && !counts_steps(*found);
    reading_.in_epoch = of_epoch || (found && found == behind_epoch());
    for (std::size_t i = 0; !found && i < size(); ++i)
      if (can_count(i) && is_step_key(i)) found = i;
    if (!found && size() > 1 && leads(0)) found = 0;
    if (!found || !can_count(*found)) return;
    reading_.step = number(*found).value;
    reading_.total_steps = number(*found).total;
    const bool nameless = key(*found).empty() || found == parts_.bar;
    reading_.step_key = nameless ? "n/total" : key(*found);
    parts_.step = found;
  }

  LineParts& parts_;
  Reading& reading_;
};

}  // namespace

void read_counters(LineParts& parts, Reading& reading) { Counters(parts, reading).read(); }

}  // namespace schedmate::progress
