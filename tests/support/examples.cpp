// SPDX-License-Identifier: Apache-2.0
/// Test cases that main_test.sh runs to see what becomes of them.
#include "tests/support/near.hpp"
#include "tests/support/needs.hpp"

namespace schedmate::testing {
namespace {

TEST_CASE("a number") { CHECK(near(102, 100, 0.05, 0)); }

TEST_CASE("a need that is met" * Need("needs bread", "")) { CHECK(true); }

TEST_CASE("one that is not" * Need("needs miracle", "needs a miracle")) { FAIL("was run"); }

TEST_CASE("one that is not, beside a failure" * Need("needs luck", "needs luck")) {
  FAIL("was run");
}

TEST_CASE("the failure" * Need("needs luck", "")) { FAIL("is seen"); }

}  // namespace
}  // namespace schedmate::testing
