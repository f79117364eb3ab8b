// SPDX-License-Identifier: Apache-2.0
#include "log/progress/time_left.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "base/characters.hpp"
#include "base/text.hpp"
#include "log/progress/units.hpp"

namespace schedmate::progress {
namespace {

constexpr double minute = 60;
constexpr double hour = 3600;
constexpr double day = 86400;

/// A length of time at the beginning of a text.
struct Length {
  double seconds = 0;
  std::size_t size = 0;  ///< of its text; 0: there is none
};

/// Reads a text from left to right.
class Walk {
 public:
  explicit Walk(std::string_view text) : text_(text) {}

  [[nodiscard]] std::size_t at() const { return at_; }
  void go_to(std::size_t at) { at_ = at; }
  [[nodiscard]] char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  void skip_blanks() {
    while (peek() == ' ' || peek() == '\t') ++at_;
  }
  bool take(std::string_view word) {
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }
  /// "3", "3.2"
  std::optional<double> number() {
    std::size_t end = at_;
    while (end < text_.size() && is_digit(text_[end])) ++end;
    if (end == at_) return std::nullopt;
    if (end + 1 < text_.size() && text_[end] == '.' && is_digit(text_[end + 1]))
      for (++end; end < text_.size() && is_digit(text_[end]);) ++end;
    const auto value = parse_number<double>(text_.substr(at_, end - at_));
    if (value) at_ = end;
    return value;
  }
  std::string word() {
    std::string word;
    while (is_letter(peek())) word += lower(text_[at_++]);
    return word;
  }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
};

double seconds_of_unit(std::string_view unit) {
  if (unit == "day" || unit == "days") return day;
  return unit == "ms" || unit == "us" || unit == "ns" ? 0 : seconds_in(unit);
}

/// "1:13:20", "4:10", "00:12:33.5"; what follows an hour of the day ("04:01 PM") is no length.
Length read_clock(std::string_view text) {
  Walk walk(text);
  std::array<double, 3> parts{};
  std::size_t count = 0;
  while (count < parts.size()) {
    const auto part = walk.number();
    if (!part) return {};
    parts.at(count++) = *part;
    if (walk.peek() != ':') break;
    walk.take(":");
  }
  if (count < 2 || is_digit(walk.peek()) || walk.peek() == ':' || walk.peek() == '-') return {};
  const std::size_t end = walk.at();
  walk.skip_blanks();
  if (const auto half = walk.word(); half == "am" || half == "pm") return {};
  const double seconds =
      count == 3 ? parts[0] * hour + parts[1] * minute + parts[2] : parts[0] * minute + parts[1];
  return {seconds, end};
}

/// "3.2h", "2d 3h 4m", "1 hour and 20 minutes", "2 days, 3:10:15"
Length read_length(std::string_view text) {
  Walk walk(text);
  Length length;
  while (true) {
    const auto rest = text.substr(walk.at());
    if (const Length clock = read_clock(rest); clock.size > 0)
      return {length.seconds + clock.seconds, walk.at() + clock.size};
    const auto value = walk.number();
    if (!value) return length;
    walk.skip_blanks();
    const double unit = seconds_of_unit(walk.word());
    // "3it" and "2.00it/s" are none.
    if (unit == 0 || is_digit(walk.peek()) || walk.peek() == '/') return length;
    length = {length.seconds + *value * unit, walk.at()};
    walk.take(",");
    walk.skip_blanks();
    if (walk.take("and ")) walk.skip_blanks();
  }
}

std::string lower_text(std::string_view text) {
  std::string made;
  for (const char c : text) made += lower(c);
  return made;
}

bool begins_word(std::string_view text, std::size_t at) {
  return at == 0 || (!is_letter(text[at - 1]) && !is_digit(text[at - 1]));
}

/// From behind the word that says "left" to the length: "eta_seconds": 12 has its unit there.
std::optional<double> read_behind(std::string_view text) {
  Walk walk(text);
  double unit = 0;
  for (const auto& [name, seconds] : {std::pair{"_seconds", 1.0},
                                      {"_secs", 1.0},
                                      {"_sec", 1.0},
                                      {"_s", 1.0},
                                      {" (s)", 1.0},
                                      {"(s)", 1.0},
                                      {" (h)", hour},
                                      {"(h)", hour},
                                      {" (min)", minute},
                                      {"(min)", minute}})
    if (unit == 0 && walk.take(name)) unit = seconds;
  if (is_letter(walk.peek()) || is_digit(walk.peek())) return std::nullopt;
  walk.take("_time");
  for (std::size_t before = text.size(); before != walk.at();) {
    before = walk.at();
    while (std::string_view(" \t:=\"'([|~").contains(walk.peek()) && walk.peek() != '\0')
      walk.go_to(walk.at() + 1);
    for (const std::string_view word : {"time", "is", "about", "in", "approx.", "est."})
      if (walk.take(word)) break;
  }
  const auto rest = text.substr(walk.at());
  if (const Length length = read_length(rest); length.size > 0) return length.seconds;
  const auto bare = unit > 0 ? Walk(rest).number() : std::nullopt;
  return bare ? std::optional(*bare * unit) : std::nullopt;
}

/// "eta: 3h", "time left 0:10"
std::optional<double> behind_its_word(std::string_view text) {
  for (const std::string_view word : {"eta", "remaining", "remain", "left", "to go"})
    for (auto at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1))
      if (begins_word(text, at))
        if (const auto left = read_behind(text.substr(at + word.size()))) return left;
  return std::nullopt;
}

/// "1 hour 20 minutes left"
std::optional<double> before_its_word(std::string_view text) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (!is_digit(text[at]) || !begins_word(text, at) || (at > 0 && text[at - 1] == '.')) continue;
    const Length length = read_length(text.substr(at));
    if (length.size == 0) continue;
    const auto behind = trim(text.substr(at + length.size).substr(0, 12));
    for (const std::string_view word : {"left", "remaining", "to go"})
      if (behind.starts_with(word)) return length.seconds;
    at += length.size - 1;
  }
  return std::nullopt;
}

/// "[10:00<1:13:20" of a bar
std::optional<double> of_bar(std::string_view text) {
  for (auto at = text.find('<'); at != std::string_view::npos; at = text.find('<', at + 1)) {
    const auto open = text.substr(0, at).rfind('[');
    if (open == std::string_view::npos) continue;
    const auto ran = text.substr(open + 1, at - open - 1);
    const Length before = read_length(ran);
    const Length after = read_length(text.substr(at + 1));
    if (before.size == ran.size() && before.size > 0 && after.size > 0) return after.seconds;
  }
  return std::nullopt;
}

}  // namespace

std::optional<double> printed_time_left(std::string_view line) {
  constexpr std::size_t longest = 2000;
  constexpr double most = 3.2e9;  // a hundred years
  const auto text = lower_text(line.substr(0, longest));
  const bool named = text.contains("eta") || text.contains("left") || text.contains("remain") ||
                     text.contains("to go");
  auto left = text.contains('<') ? of_bar(text) : std::nullopt;
  if (!left && named) left = behind_its_word(text);
  if (!left && named) left = before_its_word(text);
  return left && *left <= most ? left : std::nullopt;
}

}  // namespace schedmate::progress
