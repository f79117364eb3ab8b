// SPDX-License-Identifier: Apache-2.0
#include "tests/support/needs.hpp"

#include <filesystem>

namespace schedmate::testing {
namespace {

TEST_CASE("shared data is where the build was configured to look" * needs_shared("data")) {
  CHECK(std::filesystem::exists(shared("data")));
}

TEST_CASE("a test has no way to shared data that it does not say it needs" *
          doctest::should_fail()) {
  static_cast<void>(shared("data"));
}

}  // namespace
}  // namespace schedmate::testing
