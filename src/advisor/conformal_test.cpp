// SPDX-License-Identifier: Apache-2.0

/// What the interval promises, on histories that are made up: 80 % of the jobs end inside it.

#include "advisor/conformal.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <deque>

#include "advisor/estimates.hpp"
#include "base/random.hpp"
#include "tests/support/near.hpp"

namespace schedmate::advisor {
namespace {

using testing::near;

constexpr int jobs_of_a_history = 3000;
constexpr int burn_in = 300;
constexpr std::size_t kept_residuals = 400;

/// How the durations of a made history come about.
struct MadeHistory {
  int users = 10;
  int templates = 4;      ///< per user: kinds of jobs with a duration of their own
  double noise = 0.3;     ///< of the log duration, about the template's
  double early_ends = 0;  ///< share of jobs that fail at a random moment
};

struct Past {
  std::deque<PastRun> runs[10][4];  // newest first, by user and template
  std::deque<std::pair<int, Residual>> residuals;
};

PastRun live(const MadeHistory& world, Random& random, double centre) {
  PastRun run;
  double log_duration = centre + world.noise * random.normal();
  if (random.uniform() < world.early_ends) {
    run.state = EndState::failed;
    log_duration += std::log(random.uniform() + 1e-6);
  } else {
    run.state = EndState::completed;
  }
  run.duration = Seconds(std::llround(std::exp(std::max(0.0, log_duration))));
  return run;
}

Estimate advise(const Past& past, int user, const std::deque<PastRun>& runs) {
  const std::vector<PastRun> matches(runs.begin(), runs.end());
  std::vector<Residual> residuals;
  for (const auto& [whose, residual] : past.residuals) {
    residuals.push_back(residual);
    residuals.back().same_user = whose == user;
  }
  return estimate_calibrated({AdviceSource::resubmission, matches, {}, residuals, {}, at(0)});
}

void remember(Past& past, int user, const Estimate& advice, const PastRun& run) {
  past.residuals.push_front(
      {user, {log_of(run.duration) - log_of(advice.p50), advice.source, false}});
  if (past.residuals.size() > kept_residuals) past.residuals.pop_back();
}

double coverage(const MadeHistory& world, std::uint64_t seed) {
  Random random(seed);
  Past past;
  double centres[10][4];
  for (auto& user : centres)
    for (double& centre : user) centre = 5 + 6 * random.uniform();
  int inside = 0;
  int asked = 0;
  for (int job = 0; job < jobs_of_a_history; ++job) {
    const auto user = static_cast<int>(random.below(world.users));
    const auto kind = random.below(world.templates);
    auto& runs = past.runs[user][kind];
    const Estimate advice = advise(past, user, runs);
    const PastRun run = live(world, random, centres[user][kind]);
    if (advice.source != AdviceSource::none) {
      const FractionalSeconds took = run.duration;
      const bool holds = advice.p10 <= took && took <= advice.p90;
      if (job >= burn_in) ++asked;
      if (job >= burn_in && holds) ++inside;
      remember(past, user, advice, run);
    }
    runs.push_front(run);
    if (runs.size() > 10) runs.pop_back();
  }
  return static_cast<double>(inside) / asked;
}

TEST_CASE("the 80 % interval holds 75 to 85 % of made log-normal jobs") {
  for (const MadeHistory& world :
       {MadeHistory{}, MadeHistory{.noise = 0.05}, MadeHistory{.noise = 1.5},
        MadeHistory{.early_ends = 0.3}, MadeHistory{.users = 2, .templates = 1, .noise = 0.8},
        MadeHistory{.noise = 0.3, .early_ends = 0.6}}) {
    CAPTURE(world.noise);
    CAPTURE(world.early_ends);
    const double share = coverage(world, 7);
    CHECK(share >= 0.75);
    CHECK(share <= 0.85);
  }
}

TEST_CASE("without experience the spread of the matches stands in") {
  const LogInterval narrow = conformal_interval({}, 0.1);
  const LogInterval wide = conformal_interval({}, 1.0);
  CHECK(narrow.low < 0);
  CHECK(narrow.high > 0);
  CHECK(near(wide.high, 10 * narrow.high, 1e-12, 0));
}

TEST_CASE("the user's own errors outweigh those of others") {
  std::vector<Residual> residuals;
  for (int i = 0; i < 100; ++i) {
    const double side = i % 2 == 0 ? 1 : -1;
    residuals.push_back({0.1 * side, AdviceSource::similar, true});
    residuals.push_back({2.0 * side, AdviceSource::similar, false});
  }
  EstimateInput input;
  input.source = AdviceSource::similar;
  input.residuals = residuals;
  const LogInterval own = conformal_interval(input, 0.5);
  for (Residual& each : residuals) each.same_user = !each.same_user;
  const LogInterval others = conformal_interval(input, 0.5);
  CHECK(own.high < others.high);
}

TEST_CASE("errors to one side make a one-sided interval") {
  std::vector<Residual> residuals(50, {1.0, AdviceSource::similar, true});
  EstimateInput input;
  input.source = AdviceSource::similar;
  input.residuals = residuals;
  const LogInterval interval = conformal_interval(input, 0.5);
  CHECK(near(interval.high, 1.0, 1e-12, 0));
  CHECK(interval.low > 0);
}

}  // namespace
}  // namespace schedmate::advisor
