// SPDX-License-Identifier: Apache-2.0
#include "config/scalars.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <limits>

#include "base/characters.hpp"
#include "base/text.hpp"
#include "config/config.hpp"

namespace schedmate::config {
namespace {

bool one_of(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, text) != words.end();
}

bool same_word(std::string_view text, std::string_view lower) {
  return std::ranges::equal(
      text, lower, [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; });
}

std::optional<bool> read_boolean(std::string_view text, Dialect dialect) {
  if (dialect == Dialect::hydra) {
    if (same_word(text, "true")) return true;
    if (same_word(text, "false")) return false;
    return std::nullopt;
  }
  if (one_of(text, {"true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON"})) return true;
  if (one_of(text, {"false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF"}))
    return false;
  return std::nullopt;
}

std::string without_underscores(std::string_view text) {
  std::string plain;
  std::ranges::copy_if(text, std::back_inserter(plain), [](char c) { return c != '_'; });
  return plain;
}

std::optional<std::int64_t> read_digits(std::string_view digits, int base, bool negative) {
  std::int64_t value = 0;
  const char* const begin = digits.data();  // goes with its length, needs no end
  const char* const end = begin + digits.size();
  const auto [stop, error] = std::from_chars(begin, end, value, base);
  if (digits.empty() || digits[0] == '-' || error != std::errc() || stop != end)
    return std::nullopt;
  return negative ? -value : value;
}

// 1:30:00 is 5400 in YAML 1.1.
std::optional<std::int64_t> read_base_60(std::string_view text, bool negative) {
  if (!text.contains(':') || text[0] == '0') return std::nullopt;
  std::int64_t value = 0;
  bool first = true;
  for (const auto part : split(text, ':')) {
    const auto digits = read_digits(part, 10, false);
    if (!digits || (!first && (part.size() > 2 || *digits > 59)) || value > 1'000'000'000)
      return std::nullopt;
    value = value * 60 + *digits;
    first = false;
  }
  return negative ? -value : value;
}

std::optional<std::int64_t> read_integer(std::string_view text, Dialect dialect) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  if (text.empty() || !is_digit(text[0])) return std::nullopt;
  const auto plain = without_underscores(text);
  text = plain;
  if (dialect == Dialect::hydra) return read_digits(text, 10, negative);
  if (text.starts_with("0x")) return read_digits(text.substr(2), 16, negative);
  if (text.starts_with("0b")) return read_digits(text.substr(2), 2, negative);
  if (text.size() > 1 && text[0] == '0') return read_digits(text.substr(1), 8, negative);
  if (const auto base_60 = read_base_60(text, negative)) return base_60;
  return read_digits(text, 10, negative);
}

// PyYAML wants a point, and a sign in the exponent; the others take what Python's float() takes.
bool is_real(std::string_view text, Dialect dialect) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  std::size_t at = 0;
  bool digits = false;
  bool point = false;
  for (; at < text.size() && (is_digit(text[at]) || text[at] == '_' || text[at] == '.'); ++at) {
    if (text[at] == '_' && at == 0) return false;
    if (text[at] == '.' && point) return false;
    point = point || text[at] == '.';
    digits = digits || is_digit(text[at]);
  }
  if (!digits) return false;
  if (at == text.size()) return point;
  if (text[at] != 'e' && text[at] != 'E') return false;
  const auto exponent = text.substr(at + 1);
  const bool sign = exponent.starts_with('-') || exponent.starts_with('+');
  if (dialect == Dialect::pyyaml && (!point || !sign)) return false;
  const auto number = exponent.substr(sign ? 1 : 0);
  return !number.empty() && std::ranges::all_of(number, is_digit);
}

std::optional<double> read_special(std::string_view text, Dialect dialect) {
  constexpr auto infinity = std::numeric_limits<double>::infinity();
  const bool negative = text.starts_with('-');
  const auto word = text.substr(negative || text.starts_with('+') ? 1 : 0);
  if (dialect == Dialect::hydra) {
    if (same_word(word, "inf")) return negative ? -infinity : infinity;
    if (same_word(word, "nan")) return std::nan("");
    return std::nullopt;
  }
  if (one_of(word, {".inf", ".Inf", ".INF"})) return negative ? -infinity : infinity;
  if (one_of(text, {".nan", ".NaN", ".NAN"})) return std::nan("");
  return std::nullopt;
}

std::optional<double> read_real(std::string_view text, Dialect dialect) {
  if (const auto special = read_special(text, dialect)) return special;
  if (!is_real(text, dialect)) return std::nullopt;
  auto plain = without_underscores(text);
  if (plain.starts_with('+')) plain.erase(0, 1);
  return parse_number<double>(plain);
}

}  // namespace

Value::Data read_word(std::string_view text, Dialect dialect) {
  constexpr std::size_t longest_number = 64;
  if (dialect == Dialect::hydra ? same_word(text, "null")
                                : one_of(text, {"", "~", "null", "Null", "NULL"}))
    return code::None{};
  if (text.empty() || text.size() > longest_number) return std::string(text);
  if (const auto boolean = read_boolean(text, dialect)) return *boolean;
  if (const auto integer = read_integer(text, dialect)) return *integer;
  if (const auto real = read_real(text, dialect)) return *real;
  return std::string(text);
}

Value parse_scalar(std::string_view text, const PlacePtr& place) {
  return read_override(text, Dialect::omegaconf, place);
}

}  // namespace schedmate::config
