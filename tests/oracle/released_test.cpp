// SPDX-License-Identifier: Apache-2.0
#include "released.hpp"

#include <doctest/doctest.h>

#include "simulated.hpp"
#include "tests/support/needs.hpp"

namespace oracle {
namespace {

using schedmate::testing::needs_shared;
using schedmate::testing::shared;

struct Case {
  TickPolicy policy;
  std::string file;
  std::string estimate = "est_lgb";
};

TickResult check_case(const Case& c) {
  const TickInput input = read_released_input(shared("data/lucid/input"), c.estimate);
  const TickResult got = run_tick_model(input, c.policy, Mode::reference);
  const std::vector<TickOutcome> want =
      read_released_outcomes(shared("data/lucid/expected/" + c.file + ".csv.gz"));
  REQUIRE(got.outcomes.size() == want.size());
  int different = 0;
  for (std::size_t id = 0; id < want.size(); ++id) {
    if (got.outcomes[id] == want[id]) continue;
    if (++different > 5) continue;
    MESSAGE(c.file << " row " << id << "\n ours   " << describe(got.outcomes[id]) << "\n theirs "
                   << describe(want[id]));
  }
  CHECK(different == 0);
  return got;
}

}  // namespace

TEST_CASE("the tick model starts every job when the released policies do" *
          needs_shared("data/lucid")) {
  check_case({TickPolicy::fifo, "fifo"});
  check_case({TickPolicy::sjf, "sjf"});
  check_case({TickPolicy::qssf, "qssf-lightgbm"});
}

TEST_CASE("the tick model preempts as the released policies do" * needs_shared("data/lucid")) {
  check_case({TickPolicy::srtf, "srtf"});
  check_case({TickPolicy::tiresias, "tiresias"});
}

TEST_CASE("the tick model profiles and packs as released Lucid does" * needs_shared("data/lucid")) {
  const TickResult got = check_case({TickPolicy::lucid, "lucid", "est_ebm_raw"});
  CHECK(got.scaling == read_released_scaling(shared("data/lucid/expected/profiler_scaling.csv")));
}

}  // namespace oracle
