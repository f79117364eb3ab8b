// SPDX-License-Identifier: Apache-2.0
#include "log/progress/shape_lines.hpp"

#include "log/progress/line_parts.hpp"
#include "log/progress/units.hpp"

namespace schedmate::progress {
namespace {

std::optional<double> unit_of(const lines::Number& number, const std::string& key) {
  if (number.clock) return 1;
  lines::Number one = number;
  one.value = 1;
  return seconds_of_rate(one) ? std::nullopt : seconds_of(one, key);
}

}  // namespace

std::vector<LinePlace> places_of(std::string_view text) {
  std::vector<LinePlace> places;
  for (const lines::Number& number : lines::numbers_of(text)) {
    LinePlace place;
    place.value = number.value;
    place.whole = number.whole;
    place.percent = number.percent;
    place.clock = number.clock;
    place.key = plain_key(number.key);
    place.unit = number.unit;
    place.unit_s = unit_of(number, place.key);
    places.push_back(place);
    if (number.total) {
      place.value = *number.total;
      place.total = true;
      places.push_back(place);
    } else if (number.mean) {
      place.value = *number.mean;
      place.whole = false;
      places.push_back(place);
    }
  }
  return places;
}

bool is_time_place(const LinePlace& place, const LogWords& words) {
  return place.unit_s || has_word(place.key, words.time) || words.step_time.contains(place.key);
}

bool is_other_place(const LinePlace& place, const LogWords& words) {
  return place.percent || words.throughput.contains(place.key) ||
         has_word(place.key, words.other) || has_word(place.key, words.held_out);
}

}  // namespace schedmate::progress
