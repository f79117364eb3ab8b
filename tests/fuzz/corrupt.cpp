// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/corrupt.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace schedmate::fuzz {
namespace {

constexpr std::array<std::string_view, 22> foreign = {"\"",
                                                      "\n",
                                                      "\r\n",
                                                      ",",
                                                      "|",
                                                      "{",
                                                      "}",
                                                      "[",
                                                      "]",
                                                      ":",
                                                      ";",
                                                      "-",
                                                      "\\",
                                                      "99999999999999999999",
                                                      "-1",
                                                      "1e308",
                                                      "nan",
                                                      "\xff\xfe",
                                                      "\xef\xbb\xbf",
                                                      "\xc3\x28",
                                                      "2020-02-30 25:61:61",
                                                      "null"};

std::size_t pick(const std::string& text, Random& random) {
  return static_cast<std::size_t>(random.below(static_cast<std::int64_t>(text.size()) + 1));
}

/// A piece of up to 200 characters.
std::size_t piece(Random& random) { return static_cast<std::size_t>(random.between(1, 200)); }

void flip_bytes(std::string& text, Random& random) {
  for (std::int64_t i = random.between(1, 20); i > 0 && !text.empty(); --i) {
    char& c = text[pick(text, random) % text.size()];
    c = static_cast<char>(c ^ (1 << random.below(8)));
  }
}

void swell_number(std::string& text, Random& random) {
  const std::size_t digit = text.find_first_of("0123456789", pick(text, random));
  if (digit != std::string::npos) text.insert(digit, "987654321987654321");
}

/// Every character as two bytes, as an editor on another system may write it.
void widen(std::string& text, Random&) {
  std::string wide;
  for (const char c : text) (wide += c) += '\0';
  text = std::move(wide);
}

void damage(std::string& text, Random& random) {
  const std::size_t at = pick(text, random);
  switch (random.below(9)) {
    case 0:
      return text.resize(at);
    case 1:
      return flip_bytes(text, random);
    case 2:
      text.erase(at, piece(random));
      return;
    case 3:
      text.insert(pick(text, random), text.substr(at, piece(random)));
      return;
    case 4:
      text.insert(at, foreign[static_cast<std::size_t>(random.below(foreign.size()))]);
      return;
    case 5:
      text.insert(at, piece(random), '\0');
      return;
    case 6:
      return swell_number(text, random);
    case 7:
      if (random.below(8) == 0) widen(text, random);
      return;
    default:
      std::replace(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n', '\r');
  }
}

}  // namespace

std::string corrupt(std::string text, Random& random) {
  for (std::int64_t i = random.between(1, 4); i > 0; --i) damage(text, random);
  return text;
}

}  // namespace schedmate::fuzz
