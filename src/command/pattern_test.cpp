// SPDX-License-Identifier: Apache-2.0
#include "command/pattern.hpp"

#include <doctest/doctest.h>

namespace schedmate::command {

TEST_CASE("patterns fit whole texts") {
  CHECK(matches("*.yaml", "a.yaml"));
  CHECK(matches("a?c*", "abcde"));
  CHECK(matches("[a-c][!x]", "by"));
  CHECK(matches("\\*", "*"));
  CHECK(matches("", ""));
  CHECK(matches("a[", "a["));
  CHECK_FALSE(matches("\\*", "x"));
  CHECK_FALSE(matches("a", "ab"));
  CHECK_FALSE(matches("?", ""));
  CHECK_FALSE(matches("[a-c]", "d"));
}

TEST_CASE("many stars do not take long") {
  std::string pattern;
  for (int i = 0; i < 200; ++i) pattern += "a*";
  CHECK_FALSE(matches(pattern + "b", std::string(5000, 'a')));
}

TEST_CASE("escaped text stands for itself") {
  const std::string text = "a*b[c]?\\";
  CHECK(has_pattern_marks(text));
  CHECK_FALSE(has_pattern_marks(escaped_pattern(text)));
  CHECK(matches(escaped_pattern(text), text));
}

}  // namespace schedmate::command
