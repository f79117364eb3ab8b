// SPDX-License-Identifier: Apache-2.0
#include "base/unified_diff.hpp"

#include <doctest/doctest.h>

#include <string>

namespace schedmate {

TEST_CASE("a difference is written as diff -u does") {
  std::string before, after;
  for (int i = 1; i <= 30; ++i) {
    before += "line " + std::to_string(i) + "\n";
    if (i == 5) after += "new\n";
    if (i != 20) after += "line " + std::to_string(i) + "\n";
  }
  CHECK(
      unified_diff({"a", before}, {"b", after}) ==
      "--- a\n+++ b\n"
      "@@ -2,6 +2,7 @@\n line 2\n line 3\n line 4\n+new\n line 5\n line 6\n line 7\n"
      "@@ -17,7 +18,6 @@\n line 17\n line 18\n line 19\n-line 20\n line 21\n line 22\n line 23\n");
  CHECK(unified_diff({"a", before}, {"b", before}).empty());
}

TEST_CASE("files that come or go, and ends without a line end") {
  CHECK(unified_diff({"/dev/null", ""}, {"b", "x\ny\n"}) ==
        "--- /dev/null\n+++ b\n@@ -0,0 +1,2 @@\n+x\n+y\n");
  CHECK(unified_diff({"a", "x\n"}, {"/dev/null", ""}) ==
        "--- a\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-x\n");
  CHECK(unified_diff({"a", "x"}, {"a", "x\ny\n"}) ==
        "--- a\n+++ a\n@@ -1,1 +1,2 @@\n-x\n\\ No newline at end of file\n+x\n+y\n");
}

}  // namespace schedmate
