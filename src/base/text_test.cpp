// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"

#include <doctest/doctest.h>

#include <array>

namespace schedmate {
namespace {

TEST_CASE("splitting keeps empty parts") {
  CHECK(split("a,,b,", ',') == std::vector<std::string_view>{"a", "", "b", ""});
  CHECK(split("", ',') == std::vector<std::string_view>{""});
}

TEST_CASE("trimming takes blanks and line ends off both sides only") {
  CHECK(trim(" \t a b \r\n") == "a b");
  CHECK(trim(" \n ").empty());
}

TEST_CASE("only a whole number is a number") {
  CHECK(parse_number<int>("-12") == -12);
  CHECK(parse_number<double>("2.5") == 2.5);
  CHECK_FALSE(parse_number<int>("12 "));
  CHECK_FALSE(parse_number<int>(""));
  CHECK_FALSE(parse_number<int>("0x10"));
  CHECK_FALSE(parse_number<int>("99999999999"));
}

TEST_CASE("the edit distance counts insertions, deletions and changes") {
  // fifo -> fif (1 deletion); sjf -> srtf: change j to r, insert t.
  CHECK(edit_distance("fifo", "fif") == 1);
  CHECK(edit_distance("sjf", "srtf") == 2);
  CHECK(edit_distance("", "abc") == 3);
  CHECK(edit_distance("same", "same") == 0);
  CHECK(edit_distance("strf", "srtf") == 1);
}

TEST_CASE("an unknown name is answered with the nearest and with all") {
  constexpr std::array<std::string_view, 3> names{"fifo", "sjf", "srtf"};
  CHECK(nearest("strtf", names) == "srtf");
  CHECK(nearest("x", {}).empty());
  const std::vector<std::string_view> clusters{"saturn", "acme-kalos"};
  CHECK(nearest("acme", clusters) == "acme-kalos");  // begun, though farther off
  CHECK(unknown_name("policy", "sj", names) ==
        "unknown policy 'sj' (nearest: sjf; all: fifo, sjf, srtf)");
  CHECK(unknown_name("policy", "sj", {}) == "unknown policy 'sj' (there are none)");
}

}  // namespace
}  // namespace schedmate
