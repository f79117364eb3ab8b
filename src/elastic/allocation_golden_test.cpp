// SPDX-License-Identifier: Apache-2.0
// Allocations against other solvers: the rounds that Sia's own simulator solved with CBC
// (../shared/data/sia/golden), and the program cbc.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/random.hpp"
#include "tests/support/allocation_cbc.hpp"
#include "tests/support/effort.hpp"
#include "tests/support/near.hpp"
#include "tests/support/needs.hpp"
#include "tests/support/scratch.hpp"

namespace schedmate::elastic {
namespace {

using testing::near;
using testing::needs_shared;
using testing::shared;

using Json = nlohmann::json;

/// A problem that owns its options.
struct AllocationRound {
  std::vector<std::vector<AllocationOption>> options;
  AllocationProblem problem;
};

/// The row of one job as costs: for a job that holds something all but the held entry
/// times the restart factor, then to the power p, in hundredths, at most 3000. What cannot be
/// (1e-4) costs about 100.
std::vector<AllocationOption> costs_of(const Json& round, std::size_t job,
                                       const std::map<std::string, std::uint16_t>& types) {
  const Json& held = round["prev_config"][job];
  std::vector<AllocationOption> options;
  for (std::size_t i = 0; i < round["configs"].size(); ++i) {
    const Json& shape = round["configs"][i];
    double goodput = round["goodput"][job][i];
    const bool moves = !held.is_null() && held.get<std::size_t>() != i;
    if (moves) goodput *= round["realloc"][job].get<double>();
    const double cost = std::nearbyint(std::pow(goodput, round["p"].get<double>()) * 100) / 100;
    options.push_back({types.at(shape[0]), shape[2].get<std::int32_t>(), std::min(cost, 3000.0)});
  }
  return options;
}

AllocationRound read_round(const Json& json) {
  AllocationRound round;
  std::map<std::string, std::uint16_t> types;
  for (const auto& [name, gpus] : json["capacity"].items()) {
    types.emplace(name, static_cast<std::uint16_t>(round.problem.capacity.size()));
    round.problem.capacity.push_back(gpus);
  }
  const auto pinned = json["pinned"].get<std::set<std::string>>();
  for (std::size_t i = 0; i < json["jobs"].size(); ++i) {
    round.options.push_back(costs_of(json, i, types));
    AllocationJob& job = round.problem.jobs.emplace_back();
    const Json& held = json["prev_config"][i];
    if (!held.is_null()) job.held = held;
    if (pinned.contains(json["jobs"][i])) job.pinned = job.held;
  }
  for (std::size_t i = 0; i < round.options.size(); ++i) {
    round.problem.jobs[i].options = round.options[i];
  }
  round.problem.without = json["lambda_n"];
  return round;
}

/// Jobs whose values fall with the GPUs at all speeds, as Sia's do.
void make_round(AllocationRound& round, std::size_t jobs, Random& random) {
  const std::int32_t sizes[] = {1, 2, 4, 8, 12, 16, 24};
  const auto most = static_cast<std::int64_t>(24 + 2 * jobs);
  for (int type = 0; type < 3; ++type) round.problem.capacity.push_back(random.between(24, most));
  round.problem.without = 1.1;
  round.options.resize(jobs);
  round.problem.jobs.resize(jobs);
  for (std::size_t i = 0; i < jobs; ++i) {
    const double knee = std::exp(4 * random.uniform());
    for (std::uint16_t type = 0; type < 3; ++type) {
      const double speed = std::exp(1.5 * random.uniform());
      for (const std::int32_t gpus : sizes) {
        const double goodput = speed * gpus / (1 + (gpus - 1) / knee);
        round.options[i].push_back({type, gpus, std::round(100 / std::sqrt(goodput)) / 100});
      }
    }
    round.problem.jobs[i].options = round.options[i];
    const auto count = static_cast<std::int64_t>(round.options[i].size());
    round.problem.jobs[i].held = static_cast<std::int32_t>(random.below(count));
    if (i < 2) round.problem.jobs[i].pinned = static_cast<std::int32_t>(random.below(3));
  }
}

TEST_CASE("80 rounds of Sia's own simulator: its objective, proven best" *
          needs_shared("data/sia/golden")) {
  std::ifstream file(shared("data/sia/golden/ilp.jsonl"));
  int rounds = 0;
  AllocationSolver solver({.step = 0.01});
  for (std::string line; std::getline(file, line); ++rounds) {
    CAPTURE(rounds);
    const Json json = Json::parse(line);
    const AllocationRound round = read_round(json);
    for (const Allocation& answer :
         {solver.solve(round.problem), AllocationSolver({.step = 0.01}).solve(round.problem)}) {
      CHECK(answer.feasible);
      CHECK(answer.gap() == 0);
      CHECK(std::abs(answer.objective - json["objective"].get<double>()) < 0.006);
    }
  }
  CHECK(rounds == 80);
}

TEST_CASE("large rounds: within half a per cent of the bound") {
  for (const std::size_t jobs : {100U, 200U, 400U, 1000U}) {
    CAPTURE(jobs);
    Random random(jobs);
    AllocationRound round;
    make_round(round, jobs, random);
    const AllocationLimits limits{.step = 0.01, .nodes = 50'000};
    const Allocation answer = AllocationSolver(limits).solve(round.problem);
    CHECK(answer.bound <= answer.objective);
    CHECK(answer.gap() <= 0.005);
    CHECK(answer.nodes < limits.nodes + 100);
  }
}

TEST_CASE("cbc comes to the same objective") {
  REQUIRE_MESSAGE(testing::has_cbc(), "cbc is not installed: scripts/deps.sh test");
  const testing::Scratch scratch;
  int proven = 0;
  for (std::uint64_t seed = 1; seed <= testing::cases(20); ++seed) {
    CAPTURE(seed);
    Random random(seed);
    AllocationRound round;
    make_round(round, 10 + 2 * seed, random);
    const auto best = testing::cbc_objective(round.problem, scratch.path("problem"));
    const Allocation answer = AllocationSolver({.step = 0.01}).solve(round.problem);
    CHECK(answer.gap() <= 0.005);
    if (!best) continue;
    ++proven;
    CHECK(answer.bound <= *best + 1e-6);
    CHECK(answer.objective >= *best - 1e-6);
    if (answer.gap() == 0) CHECK(near(answer.objective, *best, 1e-12, 0));
  }
  CHECK(proven > 0);
}

}  // namespace
}  // namespace schedmate::elastic
