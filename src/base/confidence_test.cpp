// SPDX-License-Identifier: Apache-2.0
#include "base/confidence.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "tests/support/near.hpp"

namespace schedmate {
namespace {

/// Equal but for rounding.
testing::Nearness same(double value, double want) { return testing::near(value, want, 1e-9, 0); }

TEST_CASE("weights of a field add to those of all fields") {
  const auto confidence = read_confidence(R"(careful = 0.9
[[field]]
name = "other"
base = 1
[[field]]
name = "dataset"
base = -1
[[weight]]
feature = "rank"
weight = 0.5
[[weight]]
field = "dataset"
feature = "rank"
weight = 0.25
)",
                                          "t.toml");
  REQUIRE(confidence);
  CHECK(same(confidence->careful, 0.9));
  const Features features{{"rank", 2.0}, {"no weight", 9.0}};
  // 1 + 0.5 * 2 = 2; -1 + 0.75 * 2 = 0.5
  CHECK(same(confidence->probability("length", features), 1 / (1 + std::exp(-2.0))));
  CHECK(same(confidence->probability("dataset", features), 1 / (1 + std::exp(-0.5))));
}

TEST_CASE("nothing is certain") {
  const auto confidence =
      built_in_confidence("careful = 1\n[[field]]\nname = \"other\"\nbase = 50\n");
  CHECK(same(confidence.probability("length", {}), 0.99));
  CHECK(same(confidence.probability("length", {}), confidence.probability("dataset", {})));
}

TEST_CASE("a table that cannot be right is an error with its place") {
  CHECK(read_confidence("careful = 2\n", "t.toml").error().message.contains("careful"));
  CHECK(read_confidence("careful = 1\n[[weight]]\nweight = 1\n", "t.toml")
            .error()
            .message.contains(":2"));
}

TEST_CASE("a threshold is a share, or where 97 % were right") {
  CHECK(same(*confidence_bound("", 0.9), 0));
  CHECK(same(*confidence_bound("auto", 0.9), 0.9));
  CHECK(same(*confidence_bound("0.25", 0.9), 0.25));
  for (const char* const wrong : {"1.01", "-0.1", "nan", "most", "0.5x"})
    CHECK(confidence_bound(wrong, 0.9).error().code == ErrorCode::unsupported);
}

}  // namespace
}  // namespace schedmate
