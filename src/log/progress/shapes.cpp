// SPDX-License-Identifier: Apache-2.0
#include "log/progress/shapes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/characters.hpp"
#include "log/progress/line_parts.hpp"

namespace schedmate::progress {
namespace {

constexpr std::size_t least_lines = 3;
constexpr std::size_t most_shapes = 16;

/// Not what was consumed: "total_exs:510".
bool can_count(const lines::Number& number) {
  static const WordSet consumed = {"samples", "exs", "examples", "tokens", "images", "consumed"};
  if (has_word(plain_key(number.key), consumed)) return false;
  return number.whole && !number.percent && !number.clock && number.value >= 0 &&
         number.unit.empty();
}

}  // namespace

std::uint64_t shape_of(std::string_view line) {
  std::uint64_t hash = 14695981039346656037U;
  char last = ' ';
  for (std::size_t i = 0; i < line.size(); ++i) {
    char c = line[i];
    const bool exponent = (c == 'e' || c == 'E') && last == '#' && i + 1 < line.size() &&
                          (is_digit(line[i + 1]) || line[i + 1] == '-' || line[i + 1] == '+');
    const bool joins = (c == '.' || c == ',' || c == '-' || c == '+') && i + 1 < line.size() &&
                       is_digit(line[i + 1]);
    if (is_digit(c) || exponent || joins) c = '#';
    if (c == '\t') c = ' ';
    if ((c == '#' || c == ' ') && c == last) continue;
    last = c;
    hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
  }
  return hash;
}

Shapes::Shape& Shapes::shape(std::uint64_t hash) {
  const auto known = std::ranges::find(shapes_, hash, &Shape::hash);
  if (known != shapes_.end()) return *known;
  if (shapes_.size() >= most_shapes) shapes_.pop_front();
  return shapes_.emplace_back(Shape{.hash = hash, .waiting = {}});
}

bool is_bare_row(std::string_view line) {
  constexpr std::size_t longest = 200;
  if (line.size() > longest) return false;
  bool fraction = false;
  bool count = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    const bool exponent = (c == 'e' || c == 'E') && i > 0 && is_digit(line[i - 1]);
    if (((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) && !exponent) return false;
    fraction = fraction || (c == '.' && i > 0 && is_digit(line[i - 1]));
    const bool begins = is_digit(c) && (i == 0 || line[i - 1] == ' ' || line[i - 1] == '[');
    const auto end = begins ? line.find_first_not_of("0123456789", i) : 0;
    count = count || (begins && end != std::string_view::npos &&
                      std::string_view(" ,]|").contains(line[end]));
  }
  return fraction && count;
}

/// Two handlers print each line, one of them perhaps with a time stamp.
bool Shapes::is_double(const std::deque<Waiting>& waiting) {
  if (waiting.size() < 2) return false;
  const Waiting& last = waiting.back();
  const Waiting& before = waiting[waiting.size() - 2];
  return last.counts == before.counts && last.reading.loss &&
         last.reading.loss == before.reading.loss;
}

std::vector<Reading> Shapes::add(std::string_view line, const Reading& reading) {
  const bool says = reading.loss || reading.throughput || reading.bar_step_s ||
                    !reading.times.empty() || (reading.time && is_bare_row(line));
  if (!says) return {};
  Shape& shape = this->shape(shape_of(line));
  Waiting& now = shape.waiting.emplace_back(Waiting{reading, {}, {}});
  for (const lines::Number& number : lines::numbers_of(line)) {
    now.counts.push_back(can_count(number) ? number.value : -1);
    now.totals.push_back(number.total);
  }
  auto& waiting = shape.waiting;
  if (is_double(waiting)) waiting.erase(waiting.end() - (reading.time ? 2 : 1));
  const auto& newest = waiting.back().counts;
  for (std::size_t at = 0; shape.place < 0 && at < newest.size(); ++at) {
    if (waiting.size() < least_lines || newest[at] < 0) continue;
    const auto value = [&](std::size_t i) {
      return at < waiting[i].counts.size() ? waiting[i].counts[at] : -1;
    };
    const double by = value(1) - value(0);
    bool even = by >= 1 && value(0) >= 0;
    for (std::size_t i = 1; i < waiting.size(); ++i) even = even && value(i) - value(i - 1) == by;
    even = even && value(0) != waiting[0].reading.epoch;
    if (!even) continue;
    shape.place = static_cast<int>(at);
    shape.by_one = by == 1;
  }
  std::vector<Reading> known;
  const auto place = static_cast<std::size_t>(shape.place);
  while (shape.place >= 0 && !waiting.empty()) {
    Waiting first = std::move(waiting.front());
    waiting.pop_front();
    if (place >= first.counts.size() || first.counts[place] < 0) continue;
    first.reading.step = first.counts[place];
    first.reading.total_steps = first.totals[place];
    first.reading.step_key = fmt::format("shape {:x}", shape.hash);
    first.reading.kind = Reading::Kind::training;
    first.reading.by_one = shape.by_one;
    known.push_back(std::move(first.reading));
  }
  if (waiting.size() >= least_lines) waiting.pop_front();
  return known;
}

}  // namespace schedmate::progress
