// SPDX-License-Identifier: Apache-2.0
/// A variant under its host's settings is its host, on real rows.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/cli/program.hpp"

namespace schedmate {
namespace {

TEST_CASE("without advice and logs a variant writes its host's jobs.csv, byte for byte") {
  const Scratch here;
  for (const std::string host : {"lucid", "qssf", "tiresias", "backfill_easy", "slurm_backfill"}) {
    CAPTURE(host);
    const std::string silent =
        fmt::format("{}+sm:advice=none{}@sm", host, host == "lucid" ? ",cancel=off" : "");
    const Ran ran = here.run({"simulate", "--trace", venus(), "--policy", host + "@host",
                              "--policy", silent, "--report", "none", "--out", host});
    CAPTURE(ran.err);
    REQUIRE(ran.status == 0);
    const std::string jobs = here.read(host + "/host.jobs.csv");
    CHECK(jobs.size() > 500'000);
    CHECK(here.read(host + "/sm.jobs.csv") == jobs);
  }
}

}  // namespace
}  // namespace schedmate
