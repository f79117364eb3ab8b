// SPDX-License-Identifier: Apache-2.0
#include "workload/interference.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tests/support/near.hpp"
#include "tests/support/places.hpp"

namespace schedmate::workload {
namespace {

using testing::data;
using testing::near;

Recipe recipe_of(const std::string& name) {
  return read_recipe(data + "recipes/" + name + ".toml").value();
}

InterferenceModel bundled() { return read_interference(data + "interference.toml").value(); }

}  // namespace

TEST_CASE("mean speeds by the sum of sharing scores are the published ones, up to 1") {
  const auto means = means_by_score(packing_tables(recipe_of("light"), bundled()));
  for (std::size_t sum = 0; sum < means.size(); ++sum) {
    CAPTURE(sum);
    CHECK(std::abs(means[sum].newcomer - std::min(1.0, released_means[sum].newcomer)) < 0.035);
    CHECK(std::abs(means[sum].resident - std::min(1.0, released_means[sum].resident)) < 0.035);
  }
}

TEST_CASE("no member of a pair is faster than alone, and none stands still") {
  for (const char* name : {"light", "heavy"}) {
    for (const double scale : {0.5, 1.0, 2.0, 50.0}) {
      for (const PairRate& rate : packing_tables(recipe_of(name), bundled(), scale).pairs) {
        CHECK(rate.newcomer <= 1);
        CHECK(rate.resident <= 1);
        CHECK(rate.newcomer >= 0.05);
        CHECK(rate.resident >= 0.05);
      }
    }
  }
}

TEST_CASE("the scale multiplies what a member loses") {
  const PackingTables once = packing_tables(recipe_of("heavy"), bundled(), 1);
  const PackingTables half = packing_tables(recipe_of("heavy"), bundled(), 0.5);
  const PackingTables none = packing_tables(recipe_of("heavy"), bundled(), 0);
  for (std::size_t i = 0; i < once.pairs.size(); ++i) {
    CHECK(near(half.pairs[i].newcomer, (1 + once.pairs[i].newcomer) / 2, 1e-12, 0));
    CHECK(near(half.pairs[i].resident, (1 + once.pairs[i].resident) / 2, 1e-12, 0));
    CHECK(none.pairs[i].newcomer == 1);
  }
}

TEST_CASE("of two jobs that ask for the same, the larger model is slowed down more") {
  const InterferenceModel model = bundled();
  const Demand small{0.7, 0.28, 0.025};
  const Demand large{0.7, 0.28, 8};
  CHECK(pair_rate(model, large, small).newcomer < pair_rate(model, small, small).newcomer);
  CHECK(pair_rate(model, small, large).resident < pair_rate(model, small, small).resident);
}

TEST_CASE("profiles grow with the batch, and mixed precision asks for less memory") {
  const Recipe recipe = recipe_of("light");
  const RecipeProfiles made = recipe_profiles(recipe, bundled());
  REQUIRE(made.times.size() == made.profiles.size());
  for (std::size_t i = 1; i < made.profiles.size(); ++i) {
    const Profile& now = made.profiles[i];
    const Profile& before = made.profiles[i - 1];
    if (made.times[i].model != made.times[i - 1].model) continue;
    if (now.batch_size == before.batch_size) {
      CHECK(now.mixed_precision);
      CHECK(now.memory_mib < before.memory_mib);
      CHECK(made.times[i].step < made.times[i - 1].step);
    }
    CHECK(now.gpu_util_pct <= 100);
  }
}

TEST_CASE("sharing scores are those of the thresholds") {
  const InterferenceModel model = bundled();
  std::array<int, 3> counts{};
  for (const Profile& each : recipe_profiles(recipe_of("light"), model).profiles) {
    const int wanted = each.memory_util_pct > 30.5 ? 2 : each.gpu_util_pct <= 25 ? 0 : 1;
    CHECK(each.sharing_score == wanted);
    ++counts[static_cast<std::size_t>(wanted)];
  }
  for (const int count : counts) CHECK(count >= 15);
}

TEST_CASE("the histogram of pair rates counts both members of the pairs that can meet") {
  const Recipe recipe = recipe_of("heavy");
  const InterferenceModel model = bundled();
  const auto rates_of = [&](const WorkloadOptions& options, int score_limit) {
    return pair_rates(make_workload({}, {recipe, model, {}}, options).value(), score_limit);
  };
  const PairRates rates = rates_of({}, 2);
  // 6 + 8 + 6 profiles of small models, 6 + 6 of medium ones; large jobs do not share.
  CHECK(rates.pairs == 20 * 20 + 12 * 12);
  CHECK(rates_of({.packed_gpus = 64}, 2).pairs == 20 * 20 + 12 * 12 + 6 * 6);
  CHECK(std::reduce(rates.all.begin(), rates.all.end()) == 2 * rates.pairs);
  CHECK(std::reduce(rates.allowed.begin(), rates.allowed.end()) == 2 * rates.allowed_pairs);
  CHECK(rates.allowed_pairs > 0);
  CHECK(rates.allowed_pairs < rates.pairs);
  CHECK(rates_of({}, 4).allowed_pairs == rates.pairs);
}

}  // namespace schedmate::workload
