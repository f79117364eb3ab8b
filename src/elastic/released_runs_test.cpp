// SPDX-License-Identifier: Apache-2.0

// Whole runs of Sia's released simulator (../shared/data/sia/runs). Ties between equal
// allocations move one of its runs by two or three percent, so the mean over ways to break them is
// what is compared.

#include <doctest/doctest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/input.hpp"
#include "elastic/bootstrap.hpp"
#include "elastic/elastic_workload.hpp"
#include "elastic/sia.hpp"
#include "tests/support/effort.hpp"
#include "tests/support/near.hpp"
#include "tests/support/needs.hpp"

namespace schedmate::elastic {
namespace {

using testing::near;
using testing::needs_shared;
using testing::shared;

struct ReleasedRun {
  std::string jobs, summary;
  BootstrapOptions bootstrap;
};

ElasticCluster sia64() {
  const std::string path = std::string(SCHEDMATE_SOURCE_DIR) + "/data/elastic/sia64.toml";
  return parse_elastic_cluster(read_file(path).value(), path).value();
}

double mean_jct_h(const ReleasedRun& released) {
  const ElasticCluster cluster = sia64();
  const std::string sia = shared("data/sia/");
  const auto workload = read_elastic_workload(
      {sia + released.jobs, sia + "traces",
       std::string(SCHEDMATE_SOURCE_DIR) + "/data/elastic/sia_applications.toml"},
      cluster);
  REQUIRE_MESSAGE(workload.has_value(), workload.error().message);
  double sum_s = 0;
  double count = 0;
  for (std::uint64_t ties = 1; ties <= testing::cases(10); ++ties) {
    ElasticOptions options;
    options.admit = bootstrap(released.bootstrap);
    const auto result = run_rounds(*workload, cluster, sia_policy({.ties = ties}), options);
    REQUIRE_MESSAGE(result.has_value(), result.error().message);
    for (const ElasticOutcome& job : result->jobs) sum_s += job.completion_s - job.submit_s;
    count += static_cast<double>(result->jobs.size());
  }
  return sum_s / count / 3600;
}

TEST_CASE("average JCT over ways to break ties is within 5 % of the released runs" *
          needs_shared("data/sia/runs") * doctest::skip(testing::sanitized)) {
  const BootstrapOptions two_minutes{.profile_s = 120};
  const ReleasedRun runs[] = {{"workloads/philly/workload-1.csv", "philly-1.sia", {}},
                              {"workloads/saturn/workload-1.csv", "saturn-1.sia", {}},
                              {"runs/newtrace-1.first160.input.csv", "newtrace-1.first160", {}},
                              {"workloads/philly/workload-1.csv", "philly-1.prof120", two_minutes},
                              {"workloads/saturn/workload-1.csv", "saturn-1.prof120", two_minutes}};
  for (const ReleasedRun& released : runs) {
    std::ifstream file(shared("data/sia/runs/" + released.summary + ".summary.json"));
    const double theirs_h = nlohmann::json::parse(file)["avg_jct_h"];
    CAPTURE(released.summary);
    CHECK(near(mean_jct_h(released), theirs_h, 0.05, 0));
  }
}

}  // namespace
}  // namespace schedmate::elastic
