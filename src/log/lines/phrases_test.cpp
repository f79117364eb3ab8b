// SPDX-License-Identifier: Apache-2.0
#include "log/lines/phrases.hpp"

#include <doctest/doctest.h>

namespace schedmate::lines {
namespace {

bool finds(std::string_view phrase, std::string_view text) {
  Phrases phrases;
  const auto number = phrases.add(phrase);
  return number != 0 && phrases.find(text).has(number);
}

}  // namespace

TEST_CASE("a phrase stands at whole words, in small or large letters") {
  CHECK(finds("oom", "killed by OOM"));
  CHECK_FALSE(finds("oom", "room for more"));
  CHECK_FALSE(finds("fail", "failed"));
  CHECK(finds("fail*", "it Failed"));
  CHECK(finds("*error", "a ValueError: x"));
}

TEST_CASE("a phrase can be bound to the ends and have a gap") {
  CHECK(finds("^Killed$", "killed"));
  CHECK_FALSE(finds("^Killed$", "was killed"));
  CHECK(finds("node*died*", "the node with ip 1 died early"));
  CHECK_FALSE(finds("node*died*", "died on the node"));
}

TEST_CASE("runs of spaces are one space") { CHECK(finds("UCX ERROR*", "x.c:62   UCX  ERROR bad")); }

TEST_CASE("too short a phrase has no number, equal phrases have one") {
  Phrases phrases;
  CHECK(phrases.add("ab") == 0);
  CHECK(phrases.add("a*bcd") == 0);
  CHECK(phrases.add("abc") == phrases.add("abc"));
  CHECK(phrases.add("abc") != phrases.add("abc*"));
}

}  // namespace schedmate::lines
