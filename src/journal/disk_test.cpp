// SPDX-License-Identifier: Apache-2.0

/// The journal on a disk that fails; tests/journal_seeds runs more seeds.

#include <doctest/doctest.h>

#include "tests/support/effort.hpp"
#include "tests/support/journal_trial.hpp"

namespace schedmate::journal {
namespace {

using testing::cases;
using testing::fault_of_crashes;
using testing::fault_of_errors;

TEST_CASE("after a crash at any write, sync or deletion the journal holds what it acknowledged") {
  std::int64_t crashes = 0;
  for (std::uint64_t seed = 0; seed < cases(10); ++seed) {
    const auto fault = fault_of_crashes(seed, {}, crashes);
    REQUIRE_MESSAGE(fault.empty(), fault);
  }
  CHECK(crashes > 1'000);
}

TEST_CASE("errors of the disk lose nothing that was acknowledged, and add nothing") {
  std::int64_t errors = 0;
  for (std::uint64_t seed = 0; seed < cases(100); ++seed) {
    const auto fault = fault_of_errors(seed, {}, errors);
    REQUIRE_MESSAGE(fault.empty(), fault);
  }
  CHECK(errors > 300);
}

using Trial = std::string (*)(std::uint64_t seed, const Rules& rules, std::int64_t& count);

/// A rule that is left out must be found within a hundred seeds.
void check_found(Trial trial, const Rules& rules) {
  std::string fault;
  std::int64_t count = 0;
  for (std::uint64_t seed = 0; seed < 100 && fault.empty(); ++seed)
    fault = trial(seed, rules, count);
  CHECK_FALSE(fault.empty());
}

TEST_CASE("a commit that does not wait for the disk is found") {
  check_found(fault_of_crashes, {.synchronous = false});
}
TEST_CASE("an audit entry in a transaction of its own is found") {
  check_found(fault_of_crashes, {.one_transaction = false});
}
TEST_CASE("a writer that does not look at the epoch is found") {
  check_found(fault_of_crashes, {.check_epoch = false});
}
TEST_CASE("a log that is not written again after a sync that failed is found") {
  check_found(fault_of_errors, {.rewrite_log = false});
}

}  // namespace
}  // namespace schedmate::journal
