// SPDX-License-Identifier: Apache-2.0
#include "ray_live/logs.hpp"

#include <doctest/doctest.h>

namespace schedmate::ray_live {
namespace {

TEST_CASE("of the last lines of a log only those that are new are kept") {
  struct Row {
    const char *before, *now, *fresh;
  };
  for (const Row& row : {
           Row{"", "a\nb\n", "a\nb\n"},
           Row{"a\nb\n", "a\nb\n", ""},
           Row{"a\nb\n", "a\nb\nc\n", "c\n"},
           Row{"a\nb\nc\n", "b\nc\nd\n", "d\n"},  // the window has moved on
           Row{"x\nx\n", "x\nx\nx\n", "x\n"},
           Row{"a\nb\n", "d\ne\n", "schedmate: lines are missing here\nd\ne\n"},
           Row{"a\nbc", "bcd\n", "schedmate: lines are missing here\nbcd\n"},
           Row{"a\nb\n", "", ""},
       }) {
    INFO(std::string(row.before) << "|" << row.now);
    CHECK(new_of(row.before, row.now) == row.fresh);
  }
}

}  // namespace
}  // namespace schedmate::ray_live
