// SPDX-License-Identifier: Apache-2.0
#include "log/lines/number_reader.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "base/characters.hpp"

namespace schedmate::lines {
namespace {

std::size_t digits_at(std::string_view text, std::size_t at) {
  std::size_t count = 0;
  while (at + count < text.size() && is_digit(text[at + count])) ++count;
  return count;
}

double value_of(std::string_view digits) {
  double value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

/// "12:34:56", "04:06", both with an optional fraction.
Literal read_clock(std::string_view text) {
  std::size_t at = 0;
  double seconds = 0;
  int parts = 0;
  while (true) {
    const auto digits = digits_at(text, at);
    if (digits == 0 || digits > 6 || (parts > 0 && digits != 2)) return {};
    seconds = seconds * 60 + value_of(text.substr(at, digits));
    at += digits;
    ++parts;
    if (parts == 3 || at >= text.size() || text[at] != ':') break;
    ++at;
  }
  if (parts < 2) return {};
  if (at + 1 < text.size() && text[at] == '.' && is_digit(text[at + 1])) {
    const auto digits = digits_at(text, at + 1);
    seconds += value_of(text.substr(at, digits + 1));
    at += digits + 1;
  }
  // "12:34:56:78" is no clock, "04:06:" may end a key.
  if (at + 1 < text.size() && text[at] == ':' && is_digit(text[at + 1])) return {};
  return {seconds, false, true, at};
}

/// "1 day, 2:03:04", "2 days 2:03:04".
Literal read_days(std::string_view text) {
  const auto digits = digits_at(text, 0);
  auto rest = text.substr(digits);
  if (digits == 0 || digits > 4 || !rest.starts_with(" day")) return {};
  std::size_t at = digits + 4;
  if (at < text.size() && text[at] == 's') ++at;
  if (at < text.size() && text[at] == ',') ++at;
  if (at < text.size() && text[at] == ' ') ++at;
  const auto clock = read_clock(text.substr(at));
  if (clock.length == 0) return {};
  return {86400 * value_of(text.substr(0, digits)) + clock.value, false, true, at + clock.length};
}

/// A unit of a spelled time at the head of the text: its seconds and its length.
std::pair<double, std::size_t> spelled_unit(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, double>, 5> units = {
      {{"ms", 1e-3}, {"d", 86400}, {"h", 3600}, {"m", 60}, {"s", 1}}};
  for (const auto& [name, seconds] : units) {
    const bool ends =
        text.size() == name.size() || (text.size() > name.size() && !is_letter(text[name.size()]));
    if (ends && text.starts_with(name)) return {seconds, name.size()};
  }
  return {0, 0};
}

/// "5h 22m 19s", "4m15s", "45s8ms": at least two parts, in falling order.
Literal read_spelled(std::string_view text) {
  double seconds = 0;
  double last = std::numeric_limits<double>::infinity();
  std::size_t at = 0;
  std::size_t end = 0;
  int parts = 0;
  while (true) {
    auto digits = digits_at(text, at);
    if (digits == 0) break;
    if (at + digits + 1 < text.size() && text[at + digits] == '.' &&
        is_digit(text[at + digits + 1]))
      digits += 1 + digits_at(text, at + digits + 1);
    const auto behind = at + digits;
    const auto [unit, length] = spelled_unit(text.substr(behind));
    const bool apart = unit < 1 && at != end;  // "8s 24ms/step" are two times
    if (unit == 0 || unit >= last || apart) break;
    seconds += unit * value_of(text.substr(at, digits));
    last = unit;
    ++parts;
    end = at = behind + length;
    if (at < text.size() && text[at] == ' ') ++at;
  }
  if (parts < 2) return {};
  return {seconds, false, true, end};
}

Literal read_word(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  for (const std::string_view name : {"nan", "NaN", "NAN", "inf", "Infinity", "Inf"}) {
    if (!text.starts_with(name)) continue;
    if (text.size() > name.size() && (is_letter(text[name.size()]) || text[name.size()] == '_'))
      continue;
    const double value = name[0] == 'n' || name[0] == 'N' ? std::numeric_limits<double>::quiet_NaN()
                                                          : std::numeric_limits<double>::infinity();
    return {negative ? -value : value, false, false, name.size() + (negative ? 1U : 0U)};
  }
  return {};
}

/// Length of "1,234,567" as one number; 0 when the commas separate.
std::size_t grouped(std::string_view text) {
  auto at = digits_at(text, 0);
  if (at == 0 || at > 3 || (at > 0 && text[0] == '0')) return 0;
  std::size_t groups = 0;
  while (at < text.size() && text[at] == ',' && digits_at(text, at + 1) == 3) {
    at += 4;
    ++groups;
  }
  const bool ends = at >= text.size() || text[at] != ',' || digits_at(text, at + 1) == 0;
  return groups > 0 && ends ? at : 0;
}

std::size_t exponent_at(std::string_view text, std::size_t at) {
  if (at >= text.size() || (text[at] != 'e' && text[at] != 'E')) return 0;
  std::size_t length = 1;
  if (at + 1 < text.size() && (text[at + 1] == '+' || text[at + 1] == '-')) ++length;
  const auto digits = digits_at(text, at + length);
  return digits == 0 || digits > 4 ? 0 : length + digits;
}

Literal read_plain(std::string_view text) {
  std::size_t at = text[0] == '-' || text[0] == '+' ? 1 : 0;
  const auto sign = at;
  const auto group = grouped(text.substr(at));
  std::string digits;
  if (group > 0) {
    for (const char c : text.substr(at, group))
      if (c != ',') digits += c;
    at += group;
  } else {
    const auto count = digits_at(text, at);
    digits = text.substr(at, count);
    at += count;
  }
  bool whole = true;
  if (at + 1 < text.size() && text[at] == '.' && is_digit(text[at + 1])) {
    const auto count = digits_at(text, at + 1);
    digits += text.substr(at, count + 1);
    at += count + 1;
    whole = false;
  } else if (at < text.size() && text[at] == '.' && !digits.empty() &&
             (at + 1 >= text.size() || !is_letter(text[at + 1]) || exponent_at(text, at + 1) > 0)) {
    ++at;  // "1."
    whole = false;
  }
  const auto exponent = exponent_at(text, at);
  digits += text.substr(at, exponent);
  at += exponent;
  // An address or a version.
  if (at + 1 < text.size() && text[at] == '.' && is_digit(text[at + 1])) return {};
  const double value = value_of(digits);
  return {sign == 1 && text[0] == '-' ? -value : value, whole && exponent == 0, false, at};
}

}  // namespace

Literal read_literal(std::string_view text) {
  if (text.empty()) return {};
  const char first = text[0];
  const char second = text.size() > 1 ? text[1] : '\0';
  const bool sign = first == '-' || first == '+';
  const bool digit =
      is_digit(first) || ((sign || first == '.') && is_digit(second)) || (sign && second == '.');
  if (!digit) return read_word(text);
  if (first == '0' && (second == 'x' || second == 'X')) return {};
  if (is_digit(first)) {
    for (const auto reader : {read_days, read_clock, read_spelled})
      if (const auto found = reader(text); found.length > 0) return found;
  }
  return read_plain(text);
}

}  // namespace schedmate::lines
