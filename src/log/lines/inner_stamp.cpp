// SPDX-License-Identifier: Apache-2.0
#include "log/lines/inner_stamp.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/characters.hpp"
#include "base/text.hpp"
#include "log/lines/stamp.hpp"

namespace schedmate::lines {
namespace {

constexpr std::size_t most_body = 4096;

struct Place {
  Stamp stamp;
  std::size_t at = 0;
  std::size_t length = 0;
  bool of_line = true;  ///< not of something that is named or expected
};

/// The letters right before a place, without quotes and what joins them to it.
std::string word_before(std::string_view text, std::size_t at) {
  while (at > 0 && std::string_view(" \"':=[(").contains(text[at - 1])) --at;
  std::string word;
  while (at > 0 && is_letter(text[at - 1])) word += text[--at];
  std::ranges::reverse(word);
  std::ranges::transform(word, word.begin(), lower);
  return word;
}

/// "timestamp": 1700000150.125 or ..150125: seconds or milliseconds since the epoch.
std::optional<Place> read_unix(std::string_view text, std::size_t at) {
  constexpr std::size_t seconds_digits = 10;
  constexpr std::size_t millis_digits = 13;
  auto digits = std::min(text.find_first_not_of("0123456789", at), text.size()) - at;
  const bool millis = digits == millis_digits;
  if ((digits != seconds_digits && !millis) || text[at] != '1') return std::nullopt;
  const auto word = word_before(text, at);
  if (!word.ends_with("time") && !word.ends_with("stamp") && word != "ts") return std::nullopt;
  double resolution = millis ? 1e-3 : 1;
  const auto dot = at + digits;
  if (!millis && dot + 1 < text.size() && text[dot] == '.' && is_digit(text[dot + 1])) {
    const auto end = std::min(text.find_first_not_of("0123456789", dot + 1), text.size());
    digits = end - at;
    resolution = end - dot > 3 ? 1e-3 : 0.1;
  }
  const auto value = parse_number<double>(text.substr(at, digits));
  if (!value) return std::nullopt;
  return Place{{millis ? *value / 1000 : *value, true, resolution}, at, digits};
}

/// A whole date with its time of day.
std::optional<Place> read_date(std::string_view text, std::size_t at) {
  constexpr std::array<std::string_view, 12> other = {
      "eta",   "end",   "ends",    "finish", "finishes", "until",
      "start", "since", "started", "done",   "expected", "completion"};
  const auto behind = text.substr(at);
  const bool date = behind.size() >= 19 && (behind[4] == '-' || behind[4] == '/') &&
                    std::all_of(behind.begin(), behind.begin() + 4, is_digit) &&
                    is_digit(behind[5]);
  const auto found = date ? read_stamp(behind) : std::nullopt;
  if (!found || !found->stamp.dated) return std::nullopt;
  const auto joins = [](char c) { return std::string_view("/_-.").contains(c); };
  const auto end = at + found->length;
  const bool name = (at > 0 && joins(text[at - 1])) || (end < text.size() && joins(text[end]));
  const bool expected = std::ranges::find(other, word_before(text, at)) != other.end();
  return Place{found->stamp, at, found->length, !name && !expected};
}

std::optional<Place> find_stamp(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const bool begins =
        is_digit(text[at]) && (at == 0 || !(is_letter(text[at - 1]) || text[at - 1] == '.'));
    if (begins) {
      if (auto place = read_unix(text, at)) return place;
      if (auto place = read_date(text, at)) return place;
    }
    if (!is_digit(text[at])) {
      ++at;
      continue;
    }
    while (at < text.size() && is_digit(text[at])) ++at;
  }
  return std::nullopt;
}

}  // namespace

void extract_stamp(PrefixedLine& line, std::string& scratch) {
  constexpr int most = 4;
  if (line.body.size() > most_body) return;
  for (int i = 0; i < most && !line.time; ++i) {
    const auto place = find_stamp(line.body);
    if (!place) return;
    if (place->of_line) line.time = place->stamp;
    std::string rest(line.body.substr(0, place->at));
    rest += line.body.substr(place->at + place->length);
    scratch = std::move(rest);
    line.body = scratch;
  }
}

}  // namespace schedmate::lines
