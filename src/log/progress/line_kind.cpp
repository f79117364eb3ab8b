// SPDX-License-Identifier: Apache-2.0
#include "log/progress/line_kind.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace schedmate::progress {
namespace {

constexpr std::size_t longest_head = 16;  ///< of "Epoch 3/10"

bool any_in(const std::vector<std::string>& words, const WordSet& set) {
  return std::ranges::any_of(words, [&](const auto& word) { return set.contains(word); });
}

/// Words before a bar that is not the first thing of its line.
bool beside_bar(const LineParts& parts, const WordSet& set) {
  if (!parts.bar) return false;
  for (std::size_t i = 0; i <= *parts.bar; ++i)
    if (any_in(words_of(parts.numbers[i].key), set)) return true;
  return false;
}

bool is_held_out(const LineParts& parts, const std::vector<std::string>& head) {
  const auto& held_out = parts.words.held_out;
  const auto key_is = [&](std::optional<std::size_t> i) {
    return i && any_in(words_of(parts.numbers[*i].key), held_out);
  };
  bool held_metrics = false;
  bool trained_metrics = false;
  for (std::size_t i = 0; i < parts.keys.size(); ++i) {
    held_metrics = held_metrics || parts.is_held_out(i);
    trained_metrics = trained_metrics || parts.keys[i].starts_with("train");
  }
  const bool trains = std::ranges::any_of(head, [](const auto& word) {
    return word == "train" || word == "training" || word == "epoch";
  });
  const bool headed = any_in(head, held_out);
  return (headed && !parts.loss) || key_is(parts.epoch) || key_is(parts.step) ||
         (held_metrics && !parts.loss && !trained_metrics) || (headed && !trains && parts.bar) ||
         beside_bar(parts, held_out);
}

}  // namespace

bool names_held_out(const LineParts& parts) {
  auto counter = parts.step;
  for (std::size_t i = 0; !counter && i < parts.numbers.size(); ++i)
    if (parts.numbers[i].total && i != parts.epoch) counter = i;
  if (!counter) return false;
  auto text = parts.body.substr(0, parts.numbers[*counter].at);
  while (!text.empty()) {
    const auto end = std::min(text.find_first_of("|[]()"), text.size());
    const auto field = trim(text.substr(0, end));
    const auto words = words_of(field);  // "Validation:" is the name of a bar
    const bool one = field.size() > 1 && words[0].size() == field.size();
    if (one && parts.words.held_out.contains(words[0])) return true;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return false;
}

Reading::Kind kind_of(const LineParts& parts, const Reading& reading) {
  using Kind = Reading::Kind;
  if (parts.index_of("train runtime") || parts.index_of("train steps per second"))
    return Kind::closing;
  const auto first = std::max<std::size_t>(parts.numbers[0].at, 1);
  const auto head = words_of(parts.body.substr(0, first));
  if (reading.names_held_out || is_held_out(parts, head)) return Kind::held_out;
  const bool busy = any_in(head, parts.words.busy);
  if (parts.bar && !parts.loss && (busy || beside_bar(parts, parts.words.busy)))
    return Kind::held_out;
  if (busy && !parts.loss && reading.times.empty()) return Kind::nothing;
  const bool says = reading.step || reading.loss || !reading.times.empty() || reading.bar_step_s;
  if (says) return Kind::training;
  const auto begin = std::min(parts.body.find_first_not_of("=-#*+~<> ["), parts.numbers[0].at);
  const bool heads = parts.epoch == 0U && parts.numbers[0].at - begin < longest_head;
  return heads || reading.epoch_s ? Kind::epoch : Kind::nothing;
}

}  // namespace schedmate::progress
