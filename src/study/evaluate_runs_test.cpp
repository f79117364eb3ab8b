// SPDX-License-Identifier: Apache-2.0
#include "study/evaluate_runs.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <set>

#include "settings/clock.hpp"
#include "tests/support/places.hpp"
#include "tests/support/scratch.hpp"

namespace schedmate::study {
namespace {

/// An experiment on a trace with tables of its own, for which nothing is invented.
Result<FigureRows> rows_of(const std::string& front, const std::string& arms) {
  const testing::Scratch folder;
  const std::string path = folder.path("own.toml");
  std::ofstream(path) << "title = \"Own tables\"\nwarm_up_days = 0\n"
                      << front
                      << "\n[[trace]]\nname = \"own\"\ntrace = \"lucid:" << testing::fixtures
                      << "traces/lucid\"\n"
                      << arms;
  const auto experiment = read_experiment(path);
  REQUIRE_MESSAGE(experiment, (experiment ? "" : experiment.error().message));
  const settings::Session session{{}, {}, settings::machine_clock()};
  constexpr std::size_t perturbations = 2;
  const KeptRuns runs(folder.path("runs"), {}, {1, 1, perturbations});
  return run_experiment({session, *experiment, "test", 1, runs}, {&perturbations, 1})
      .map([](std::vector<FigureRows>&& rows) { return std::move(rows.front()); });
}

std::set<std::string> figures_of(const FigureRows& rows, const std::string& arm) {
  std::set<std::string> names;
  for (const FigureRow& row : rows)
    if (row.arm == arm) names.insert(row.figure);
  return names;
}

const std::string advised = "[[arm]]\nlabel = \"sm\"\npolicy = \"sjf:estimate=advisor\"\n";

TEST_CASE("a trace with tables of its own says what its jobs are, to arms and to estimators") {
  const auto arms = rows_of("host = \"sjf:estimate=last_k\"", advised);
  REQUIRE_MESSAGE(arms, (arms ? "" : arms.error().message));
  CHECK(figures_of(*arms, "sm").contains("ln_ratio"));
  const auto errors = rows_of("estimates = true\nhost = \"last_k\"",
                              "[[arm]]\nlabel = \"sm\"\npolicy = \"advisor\"\n");
  REQUIRE_MESSAGE(errors, (errors ? "" : errors.error().message));
  CHECK(figures_of(*errors, "sm").contains("given"));
}

TEST_CASE("what it says is not invented, so it is not exchanged either") {
  const auto shuffled = rows_of("host = \"sjf:estimate=last_k\"",
                                advised + "settings = {workload_shuffle = \"all\"}\n");
  REQUIRE_FALSE(shuffled);
  CHECK(shuffled.error().code == ErrorCode::unsupported);
  CHECK(shuffled.error().message.contains("workload_shuffle"));
}

TEST_CASE("nor for estimators that read it; one that reads nothing of it is none the wiser") {
  const auto errors_of = [](const std::string& estimator) {
    return rows_of("estimates = true\nhost = \"last_k\"",
                   "[[arm]]\nlabel = \"sm\"\npolicy = \"" + estimator +
                       "\"\nsettings = {workload_shuffle = \"all\"}\n");
  };
  const auto shuffled = errors_of("advisor");
  REQUIRE_FALSE(shuffled);
  CHECK(shuffled.error().code == ErrorCode::unsupported);
  CHECK(shuffled.error().message.contains("workload_shuffle"));
  const auto other = errors_of("last_k");
  CHECK_MESSAGE(other, (other ? "" : other.error().message));
}

}  // namespace
}  // namespace schedmate::study
