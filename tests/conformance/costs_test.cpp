// SPDX-License-Identifier: Apache-2.0
/// Failures are the same for every policy: only what it does about them differs.
#include <doctest/doctest.h>

#include <array>

#include "tests/conformance/properties.hpp"
#include "tests/conformance/subjects.hpp"
#include "tests/support/effort.hpp"

namespace schedmate::conformance {
namespace {

SimResult replay_with(const Subject& subject, const World& world, std::uint64_t seed,
                      const FailureCosts& failures) {
  Prepared prepared = prepare(subject, world, seed, Defects());
  prepared.options.costs.failures = failures;
  return replay(world, prepared);
}

TEST_CASE("a job fails as often and loses as much under every policy that shares no GPUs") {
  FailureCosts failures = frequent_failures();
  failures.false_share = failures.missed_share = failures.bad_node_share = 0;
  const std::vector<Subject> all = subjects();
  int failed = 0;
  for (std::uint64_t seed = 0; seed < testing::cases(25); ++seed) {
    const World world = random_world(seed);
    const SimResult first = replay_with({policy_rows()[0], {}}, world, seed, failures);
    for (const Subject& subject : all) {
      CAPTURE(subject.row.name);
      CAPTURE(seed);
      if (prepare(subject, world, seed, Defects()).scheduler.packs) continue;
      const SimResult result = replay_with(subject, world, seed, failures);
      for (std::size_t row = 0; row < result.outcomes.size(); ++row) {
        REQUIRE(result.outcomes[row].failures == first.outcomes[row].failures);
        REQUIRE(result.outcomes[row].lost_gpu_s == first.outcomes[row].lost_gpu_s);
        failed += result.outcomes[row].failures;
      }
    }
  }
  CHECK(failed > 1000);
}

TEST_CASE("under failures of any rate no job is lost, with and without handler") {
  const auto rows = policy_rows();
  int failed = 0;
  for (const PolicyRow& row : rows) {
    for (std::uint64_t seed = 0; seed < testing::cases(40); ++seed) {
      CAPTURE(row.name);
      CAPTURE(seed);
      const World world = random_world(seed);
      FailureCosts failures = frequent_failures();
      failures.gpu_hours = std::array{0.5, 5.0, 50.0}[seed % 3];
      Prepared prepared =
          prepare({row, {{"handler", seed % 2 == 0 ? "true" : "false"}}}, world, seed, Defects());
      prepared.options.costs.failures = failures;
      const SimResult result = replay(world, prepared);
      const Replay done{world, prepared.scheduler, prepared.options, result};
      for (const std::string& complaint : check_jobs(done, {})) FAIL(complaint);
      for (const JobOutcome& outcome : result.outcomes) failed += outcome.failures;
    }
  }
  CHECK(failed > 1000);
}

}  // namespace
}  // namespace schedmate::conformance
