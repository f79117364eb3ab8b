// SPDX-License-Identifier: Apache-2.0
#include "log/reading.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/text.hpp"
#include "log/units.hpp"

namespace schedmate {
namespace {

bool has_word(std::string_view phrase, const WordSet& set) {
  return std::ranges::any_of(split(phrase, ' '), [&](auto word) { return set.contains(word); });
}

std::string_view last_word(std::string_view phrase) {
  const auto space = phrase.rfind(' ');
  return space == std::string_view::npos ? phrase : phrase.substr(space + 1);
}

/// Words of a text up to `most` characters, without the punctuation around them.
std::vector<std::string> words_of(std::string_view text, std::size_t most) {
  std::vector<std::string> words(1);
  for (const char c : plain_key(text.substr(0, most))) {
    const bool letter = (c >= 'a' && c <= 'z') || static_cast<unsigned char>(c) >= 0x80;
    if (letter)
      words.back() += c;
    else if (!words.back().empty())
      words.emplace_back();
  }
  return words;
}

class LineReader {
 public:
  LineReader(const Said& said, const LogWords& words)
      : said_(said), words_(words), numbers_(numbers_of(said.body)) {
    keys_.reserve(numbers_.size());
    for (const Number& number : numbers_) keys_.push_back(plain_key(number.key));
  }

  Reading read() {
    if (numbers_.empty()) return {};
    reading_.time = said_.time;
    reading_.rank = said_.rank;
    reading_.keys = keys_;
    find_format();
    find_bar();
    find_epoch();
    find_step();
    find_loss();
    find_times();
    find_throughput();
    find_kind();
    return std::move(reading_);
  }

 private:
  void find_format() {
    for (const LogFormat& format : words_.formats) {
      const bool fits = std::ranges::all_of(format.keys, [&](const std::string& key) {
        return std::ranges::find(keys_, plain_key(key)) != keys_.end();
      });
      if (!fits) continue;
      reading_.format = &format;
      return;
    }
  }

  [[nodiscard]] std::optional<std::size_t> index_of(std::string_view key) const {
    const auto at = std::ranges::find(keys_, plain_key(key));
    if (key.empty() || at == keys_.end()) return std::nullopt;
    return static_cast<std::size_t>(at - keys_.begin());
  }

  /// "16/38 [00:04<00:05, 3.81it/s": a counter, a clock, a rate of one step.
  void find_bar() {
    for (std::size_t i = 0; i + 1 < numbers_.size(); ++i) {
      if (!numbers_[i].total || !numbers_[i].whole) continue;
      const bool clock = numbers_[i + 1].clock && numbers_[i + 1].in_brackets;
      for (std::size_t k = i + 1; k < std::min(i + 5, numbers_.size()); ++k) {
        const auto rate = seconds_of_rate(numbers_[k]);
        if (!rate || (!clock && !numbers_[k].unit.contains("step"))) continue;
        bar_ = i;
        reading_.bar = true;
        reading_.bar_step_s = *rate;
        return;
      }
      if (clock) bar_ = i;
    }
  }

  void find_epoch() {
    for (std::size_t i = 0; i < numbers_.size(); ++i) {
      const auto& key = keys_[i];
      const bool named = words_.epoch.contains(last_word(key)) || key.starts_with("epoch");
      const bool unit = numbers_[i].unit == "epoch" || numbers_[i].unit == "epochs";
      if ((!named && !unit) || numbers_[i].percent || key.contains("time")) continue;
      reading_.epoch = numbers_[i].value;
      reading_.total_epochs = numbers_[i].total;
      epoch_ = i;
      return;
    }
    // "30/299 ... 16/38 [": of two pairs without a name the first counts epochs.
    if (!bar_) return;
    for (std::size_t i = 0; i < *bar_; ++i) {
      if (!numbers_[i].total || !numbers_[i].whole || !keys_[i].empty()) continue;
      reading_.epoch = numbers_[i].value;
      reading_.total_epochs = numbers_[i].total;
      epoch_ = i;
      return;
    }
  }

  [[nodiscard]] bool is_step_key(std::size_t i) const {
    const auto& key = keys_[i];
    if (has_word(key, words_.not_step)) return false;
    return words_.step.contains(last_word(key)) ||
           (key.empty() && words_.step.contains(numbers_[i].unit));
  }

  [[nodiscard]] bool can_count(std::size_t i) const {
    const Number& number = numbers_[i];
    const bool whole = number.whole || number.value == std::floor(number.value);
    return whole && number.value >= 0 && !number.percent && !number.clock && i != epoch_ &&
           std::isfinite(number.value);
  }

  void find_step() {
    std::optional<std::size_t> found = bar_;
    if (reading_.format != nullptr && !reading_.format->step.empty())
      found = index_of(reading_.format->step);
    if (reading_.format != nullptr && !found && !reading_.format->step.empty())
      found = unit_index(reading_.format->step);
    for (std::size_t i = 0; !found && i < numbers_.size(); ++i)
      if (can_count(i) && numbers_[i].total && is_step_key(i)) found = i;
    for (std::size_t i = 0; !found && i < numbers_.size(); ++i)
      if (can_count(i) && is_step_key(i)) found = i;
    // "[0] [140/752]": a pair in brackets behind the epoch.
    if (!found && epoch_ && *epoch_ + 1 < numbers_.size()) {
      const auto next = *epoch_ + 1;
      if (can_count(next) && numbers_[next].total && keys_[next].empty()) found = next;
    }
    if (!found || !can_count(*found)) return;
    const Number& number = numbers_[*found];
    reading_.step = number.value;
    reading_.total_steps = number.total;
    reading_.step_key = keys_[*found].empty() || found == bar_ ? "n/total" : keys_[*found];
    step_ = found;
  }

  [[nodiscard]] std::optional<std::size_t> unit_index(std::string_view unit) const {
    for (std::size_t i = 0; i < numbers_.size(); ++i)
      if (keys_[i].empty() && numbers_[i].unit == unit) return i;
    return std::nullopt;
  }

  void find_loss() {
    if (reading_.format != nullptr && !reading_.format->loss.empty())
      if (const auto i = index_of(reading_.format->loss)) return take_loss(*i, 0);
    for (const auto& name : words_.loss)
      for (std::size_t i = 0; i < keys_.size(); ++i)
        if (keys_[i] == name && !numbers_[i].percent) return take_loss(i, 0);
    std::optional<std::size_t> only;
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      if (last_word(keys_[i]) != "loss" || has_word(keys_[i], words_.held_out)) continue;
      if (only) return;
      only = i;
    }
    if (only) take_loss(*only, 1);
  }

  void take_loss(std::size_t i, int rank) {
    has_loss_ = true;
    if (std::isfinite(numbers_[i].value)) reading_.loss = numbers_[i].value;
    reading_.loss_rank = rank;
  }

  void find_times() {
    double covers = 0;
    for (std::size_t i = 0; i < numbers_.size(); ++i) {
      if (i == step_ || i == epoch_ || i == bar_) continue;
      // "Time(1000 iters): 1.37s" says of how many steps.
      if (numbers_[i].whole && words_.step.contains(numbers_[i].unit) &&
          has_word(keys_[i], words_.time)) {
        covers = numbers_[i].value;
        continue;
      }
      if (const auto rate = step_rate(i); rate && !reading_.bar_step_s) {
        reading_.bar_step_s = rate;
        continue;
      }
      add_time(i, std::exchange(covers, 0));
    }
  }

  /// Seconds of one step from a printed rate ("ups=0.44", "global_step/sec: 5.6").
  [[nodiscard]] std::optional<double> step_rate(std::size_t i) const {
    if (const auto rate = seconds_of_rate(numbers_[i]); rate && !has_word(keys_[i], words_.part))
      return rate;
    if (!words_.rate.contains(keys_[i]) || numbers_[i].value <= 0) return std::nullopt;
    return 1 / numbers_[i].value;
  }

  void add_time(std::size_t i, double covers) {
    const auto& key = keys_[i];
    const bool known = reading_.format != nullptr && !reading_.format->time.empty();
    const bool told = known && plain_key(reading_.format->time) == key;
    if (known && !told) return;
    const bool step = told || words_.step_time.contains(key);
    const auto seconds = seconds_of(numbers_[i], key);
    const bool some = covers > 0 || (seconds && (numbers_[i].clock || has_unit(numbers_[i]))) ||
                      has_word(key, words_.time);
    if ((!step && !some) || (!step && has_word(key, words_.part))) return;
    if (bar_ && numbers_[i].clock) return;  // elapsed and remaining of a bar
    const double value = seconds.value_or(numbers_[i].value);
    if (!std::isfinite(value) || value <= 0 || numbers_[i].percent) return;
    if (!seconds && !numbers_[i].unit.empty()) return;  // "speed 23 samples/s"
    reading_.times.push_back({key, value, step ? TimeMeaning::step : TimeMeaning::open, covers});
  }

  void find_throughput() {
    for (std::size_t i = 0; i < numbers_.size(); ++i) {
      const auto& unit = numbers_[i].unit;
      const bool by_unit = unit.contains('/') && !unit.starts_with("s/") &&
                           !seconds_of_rate(numbers_[i]) &&
                           (unit.ends_with("/s") || unit.ends_with("/sec") || unit.contains("/s/"));
      const bool by_key = words_.throughput.contains(keys_[i]) && numbers_[i].value > 0;
      if ((!by_unit && !by_key) || has_word(keys_[i], words_.held_out)) continue;
      reading_.throughput = Throughput{numbers_[i].value, unit.empty() ? keys_[i] : unit};
      return;
    }
  }

  void find_kind() {
    const auto head = words_of(said_.body, std::max<std::size_t>(numbers_[0].at, 1));
    const auto in = [&](const WordSet& set) {
      return std::ranges::any_of(head, [&](const auto& word) { return set.contains(word); });
    };
    const auto key_in = [&](std::optional<std::size_t> i) {
      if (!i) return false;
      const auto parts = words_of(numbers_[*i].key, numbers_[*i].key.size());
      return std::ranges::any_of(parts,
                                 [&](const auto& word) { return words_.held_out.contains(word); });
    };
    const bool held_metrics = std::ranges::any_of(keys_, [&](const auto& key) {
      const auto first = key.substr(0, key.find(' '));
      return words_.held_out.contains(first);
    });
    const bool trains = std::ranges::any_of(head, [](const auto& word) {
      return word == "train" || word == "training" || word == "epoch";
    });
    if (index_of("train runtime") || index_of("train steps per second")) {
      reading_.kind = Reading::Kind::closing;
    } else if ((in(words_.held_out) && !has_loss_) || key_in(epoch_) || key_in(step_) ||
               (held_metrics && !has_loss_) || (in(words_.held_out) && !trains && bar_) ||
               bar_side(words_.held_out)) {
      reading_.kind = Reading::Kind::held_out;
    } else if (bar_ && !has_loss_ && (in(words_.busy) || bar_side(words_.busy))) {
      reading_.kind = Reading::Kind::held_out;
    } else if (in(words_.busy) && !has_loss_ && reading_.times.empty()) {
      reading_.kind = Reading::Kind::nothing;
    } else if (reading_.step || reading_.loss || !reading_.times.empty() || reading_.bar_step_s) {
      reading_.kind = Reading::Kind::training;
    }
  }

  /// Words before a bar that is not the first thing of its line.
  [[nodiscard]] bool bar_side(const WordSet& set) const {
    if (!bar_) return false;
    for (std::size_t i = 0; i <= *bar_; ++i) {
      const auto parts = words_of(numbers_[i].key, numbers_[i].key.size());
      if (std::ranges::any_of(parts, [&](const auto& word) { return set.contains(word); }))
        return true;
    }
    return false;
  }

  const Said& said_;
  const LogWords& words_;
  std::vector<Number> numbers_;
  std::vector<std::string> keys_;
  Reading reading_;
  std::optional<std::size_t> bar_, epoch_, step_;
  bool has_loss_ = false;
};

}  // namespace

Reading read_line(const Said& said, const LogWords& words) {
  return LineReader(said, words).read();
}

}  // namespace schedmate
