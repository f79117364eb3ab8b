// SPDX-License-Identifier: Apache-2.0
#include "log/progress/reading.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "log/progress/line_counters.hpp"
#include "log/progress/line_kind.hpp"
#include "log/progress/line_times.hpp"
#include "log/progress/time_left.hpp"

namespace schedmate::progress {
namespace {

const LogFormat* format_of(const LineParts& parts) {
  for (const LogFormat& format : parts.words.formats) {
    const bool fits = std::ranges::all_of(format.keys, [&](const std::string& key) {
      return std::ranges::find(parts.keys, key) != parts.keys.end();
    });
    if (!format.keys.empty() && fits) return &format;
  }
  return nullptr;
}

/// "average loss at step 186100: 0.0619": the value of what the counter's words name.
std::optional<std::size_t> behind_step(const LineParts& parts) {
  if (!parts.step || *parts.step + 1 >= parts.keys.size()) return std::nullopt;
  const auto next = *parts.step + 1;
  const std::string_view key = parts.keys[*parts.step];
  const auto before = key.substr(0, key.rfind(' '));
  const bool joined = last_word(before) == "at" || last_word(before) == "after";
  // "Training loss (for one batch) at step 200: 0.5"
  static const WordSet loss = {"loss"};
  const auto head = plain_key(parts.body.substr(0, parts.numbers[*parts.step].at));
  const bool held_out = has_word(head, parts.words.held_out);
  const bool names_loss = joined && !held_out && has_word(head, loss);
  const bool value = parts.keys[next].empty() && parts.numbers[next].unit.empty();
  return names_loss && value ? std::optional(next) : std::nullopt;
}

/// By the best name; else the only key that ends in "loss"; else the only one that has the word.
void read_loss(LineParts& parts, Reading& reading) {
  const auto take = [&](std::size_t i, int rank) {
    parts.loss = i;
    reading.loss_key = parts.keys[i];
    if (std::isfinite(parts.numbers[i].value)) reading.loss = parts.numbers[i].value;
    reading.loss_rank = rank;
  };
  if (parts.format != nullptr)
    if (const auto i = parts.index_of(parts.format->loss)) return take(*i, 0);
  if (const auto i = behind_step(parts)) return take(*i, 1);
  for (const auto& name : parts.words.loss)
    if (const auto i = parts.index_of(name); i && !parts.numbers[*i].percent) return take(*i, 0);
  const auto only = [&](const auto& fits) {
    std::optional<std::size_t> found;
    std::size_t count = 0;
    for (std::size_t i = 0; i < parts.keys.size(); ++i) {
      if (i == parts.step || !fits(parts.keys[i])) continue;
      if (has_word(parts.keys[i], parts.words.held_out)) continue;
      found = i;
      ++count;
    }
    return count == 1 ? found : std::nullopt;
  };
  const auto last = [](const std::string& key) { return last_word(key) == "loss"; };
  const auto ends = [](const std::string& key) { return key.ends_with("loss"); };
  static const WordSet loss = {"loss"};
  const auto has = [](const std::string& key) { return has_word(key, loss); };
  if (const auto i = only(last)) return take(*i, 1);
  if (std::ranges::any_of(parts.keys, last)) return;
  if (const auto i = only(ends)) return take(*i, 1);
  if (const auto i = only(has)) return take(*i, 1);
}

/// A line whose numbers a pattern names by their places.
Reading by_places(const LogFormat& format, const LinePattern::Values& values) {
  const auto at = [&](PatternPlace place) { return values.at(static_cast<std::size_t>(place)); };
  Reading reading;
  reading.format = &format;
  reading.by_place = true;
  if (!format.training) return reading;
  reading.kind = Reading::Kind::training;
  reading.step_key = "step";
  reading.step = at(PatternPlace::step);
  reading.total_steps = at(PatternPlace::total);
  reading.epoch = at(PatternPlace::epoch);
  reading.total_epochs = at(PatternPlace::epochs);
  if (const auto loss = at(PatternPlace::loss); loss && std::isfinite(*loss)) reading.loss = loss;
  if (const auto rate = at(PatternPlace::rate); rate && *rate > 0 && std::isfinite(*rate))
    reading.bar_step_s = 1 / *rate;
  const auto add = [&](PatternPlace place, std::string key, TimeMeaning meaning) {
    const auto time = at(place);
    if (time && *time > 0 && std::isfinite(*time))
      reading.times.push_back(
          {std::move(key), *time, meaning, at(PatternPlace::covers).value_or(0)});
  };
  add(PatternPlace::time, "time", TimeMeaning::step);
  add(PatternPlace::since, "time", TimeMeaning::interval);
  add(PatternPlace::elapsed, "elapsed", TimeMeaning::elapsed);
  return reading;
}

std::optional<Reading> by_pattern(const lines::PrefixedLine& line, const LogWords& words) {
  for (const LogFormat& format : words.formats) {
    for (const LinePattern& pattern : format.patterns) {
      auto values = pattern.read(line.body);
      // "2: 0.5, ..." may have lost its step as if it were the prefix of a rank.
      if (!values && line.rank >= 0) values = pattern.read(line.whole);
      if (values) return by_places(format, *values);
    }
  }
  return std::nullopt;
}

Reading by_words(const lines::PrefixedLine& line, const LogWords& words) {
  LineParts parts(line.body, words);
  Reading reading;
  if (parts.numbers.empty()) return reading;
  parts.format = reading.format = format_of(parts);
  if (parts.format == nullptr || parts.format->training) {
    read_counters(parts, reading);
    read_loss(parts, reading);
    reading.drawn = parts.bar.has_value();
    read_times(parts, reading);
    reading.names_held_out = names_held_out(parts);
    reading.kind = kind_of(parts, reading);
    if (const auto took = parts.index_of("eval runtime"))
      reading.held_out_s = parts.numbers[*took].value;
  }
  reading.keys = std::move(parts.keys);
  return reading;
}

/// "1.9 MB/s eta 0:03:07"
bool is_about_bytes(std::string_view body) {
  for (auto at = body.find("B/s"); at != std::string_view::npos; at = body.find("B/s", at + 1))
    if (at > 0 && std::string_view("KMGki ").contains(body[at - 1])) return true;
  return false;
}

/// A download or a validation that has its own end.
bool is_about_something_else(const lines::PrefixedLine& line, const Reading& reading,
                             const LogWords& words) {
  constexpr std::size_t head = 40;
  if (reading.kind == Reading::Kind::held_out) return true;
  if (reading.kind != Reading::Kind::nothing && (reading.step || reading.loss)) return false;
  return std::ranges::any_of(words_of(line.body.substr(0, head)), [&](const auto& word) {
    return words.busy.contains(word) || words.held_out.contains(word);
  });
}

}  // namespace

Reading read_line(const lines::PrefixedLine& line, const LogWords& words) {
  auto by_format = by_pattern(line, words);
  Reading reading = by_format ? std::move(*by_format) : by_words(line, words);
  reading.time = line.time;
  reading.rank = line.rank;
  if (!is_about_bytes(line.body) && !is_about_something_else(line, reading, words))
    reading.left_s = printed_time_left(line.body);
  return reading;
}

}  // namespace schedmate::progress
