// SPDX-License-Identifier: Apache-2.0
#include "base/fold.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "base/random.hpp"
#include "base/text.hpp"

namespace schedmate {
namespace {

std::string without_blanks(std::string text) {
  std::erase_if(text, [](char c) { return c == ' ' || c == '\n'; });
  return text;
}

std::size_t widest_of(const std::string& text) {
  std::size_t widest = 0;
  for (const auto line : split(text, '\n')) widest = std::max(widest, line.size());
  return widest;
}

TEST_CASE("a long line goes on below its last column, or below its own indentation") {
  CHECK(folded("batch_size  128  data.py:9: one two three", 32) ==
        "batch_size  128  data.py:9: one\n"
        "                 two three");
  CHECK(folded("  the line goes on and on and on", 24) == "  the line goes on and\n    on and on");
  // A last column that begins too far to the right is no place to go on.
  CHECK(folded("a column of thirty letters here  last words", 36) ==
        "a column of thirty letters here\n  last words");
}

TEST_CASE("a word that is longer than the line is cut, and nothing else is lost") {
  CHECK(folded("fifo:first=1,second=2,third=3", 26) == "fifo:first=1,second=2,\n  third=3");
  CHECK(folded("abcdefghijklmnopqrstuvwxyz", 20) == "abcdefghijklmnopqrst\n  uvwxyz");
}

TEST_CASE("a wide gap and a long line are no trouble") {
  CHECK(folded("a" + std::string(500, ' ') + "b", 20) == "a\n  b");
  const std::string many(1'000'000, 'x');
  CHECK(without_blanks(folded(many, 20)) == many);
}

TEST_CASE("lines that fit stay as they are, line ends included") {
  const std::string text = "one\n\n  two   \nthree\n";
  CHECK(folded(text, 20) == text);
  CHECK(folded(std::string(500, 'x'), 0) == std::string(500, 'x'));
  CHECK(folded("", 20).empty());
}

TEST_CASE("colours take no room, and a character of several bytes takes one column") {
  CHECK(folded("\033[31mtwenty letters, red.\033[0m", 20) == "\033[31mtwenty letters, red.\033[0m");
  CHECK(folded("ééééééééééééééééééé é", 20) == "ééééééééééééééééééé\n  é");
}

TEST_CASE("of any text, no line is too wide and no letter is lost") {
  Random random(7);
  for (int round = 0; round < 2000; ++round) {
    std::string text;
    for (auto left = random.between(0, 300); left > 0; --left) {
      constexpr std::string_view letters = "abcdefgh     \n";
      text += letters[static_cast<std::size_t>(
          random.between(0, static_cast<std::int64_t>(letters.size()) - 1))];
    }
    const auto columns = static_cast<std::size_t>(random.between(20, 90));
    const std::string narrow = folded(text, columns);
    CHECK(without_blanks(narrow) == without_blanks(text));
    // Blanks at the end of a line that had no need to be folded stay.
    CHECK((widest_of(narrow) <= columns || narrow == text));
    CHECK(folded(narrow, columns) == narrow);
  }
}

}  // namespace
}  // namespace schedmate
