// SPDX-License-Identifier: Apache-2.0
#include "study/trace_workload.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <set>

#include "tests/support/small.hpp"

namespace schedmate::study {
namespace {

/// All profiles of a recipe.
struct Profiles {
  Recipe recipe;
  Workload workload;

  explicit Profiles(const std::string& name) {
    const std::string data = SCHEDMATE_SOURCE_DIR "/data/";
    recipe = read_recipe(data + "recipes/" + name + ".toml").value();
    const auto interference = read_interference(data + "interference.toml").value();
    workload = make_workload({}, {recipe, interference, {}}, {}).value();
  }
  /// Models of which a profiler that takes so long sees something else than the truth.
  [[nodiscard]] std::set<std::string> misread(std::int64_t seconds) const {
    const auto& truth = workload.tables->profiles;
    const auto seen = seen_while_warming_up(workload, Seconds(seconds));
    REQUIRE(seen.size() == truth.size());
    std::set<std::string> models;
    for (std::size_t i = 0; i < seen.size(); ++i) {
      CHECK(seen[i].memory_mib == truth[i].memory_mib);
      CHECK(seen[i].sharing_score == workload.tables->sharing.score(seen[i]));
      if (seen[i].gpu_util_pct == truth[i].gpu_util_pct &&
          seen[i].memory_util_pct == truth[i].memory_util_pct)
        continue;
      CHECK(seen[i].gpu_util_pct < truth[i].gpu_util_pct);
      CHECK(seen[i].sharing_score <= truth[i].sharing_score);
      models.insert(recipe.models[workload.times[i].model].name);
    }
    return models;
  }
  /// Models that are not steady by then, by the recipe.
  [[nodiscard]] std::set<std::string> warming_up(std::int64_t seconds) const {
    std::set<std::string> models;
    for (const RecipeModel& model : recipe.models)
      if (model.cold_start_s + model.ramp_s > static_cast<double>(seconds))
        models.insert(model.name);
    return models;
  }
};

TEST_CASE(
    "a profile shows too little of the models that are still warming up, the truth of others") {
  for (const char* recipe : {"light", "heavy"}) {
    const Profiles profiles(recipe);
    REQUIRE_FALSE(profiles.workload.times.empty());
    for (const std::int64_t seconds : {5, 14, 30, 60, 74, 75, 104, 105, 200, 480}) {
      CAPTURE(seconds);
      CHECK(profiles.misread(seconds) == profiles.warming_up(seconds));
    }
  }
  CHECK(Profiles("light").misread(30) ==
        std::set<std::string>{"BERT-base", "MobileNetV3-Large", "PointNet", "ResNet-50"});
  CHECK(Profiles("light").misread(200).empty());
  // Of these two no job is small enough for the profiler.
  CHECK(Profiles("heavy").misread(200) == std::set<std::string>{"LLaMA-3 8B", "Qwen-2.5 14B"});
}

TEST_CASE("nothing is seen before the first step, then utilisation rises in a straight line") {
  Workload workload;
  PackingTables tables;
  tables.profiles.resize(1);
  tables.profiles[0].gpu_util_pct = 80;
  tables.profiles[0].memory_util_pct = 40;
  tables.profiles[0].sharing_score = 2;
  workload.tables = std::make_shared<const PackingTables>(std::move(tables));
  workload.times = {{.cold_start = FractionalSeconds(30), .ramp = FractionalSeconds(40)}};
  const auto seen = [&](std::int64_t seconds) {
    return seen_while_warming_up(workload, Seconds(seconds)).front();
  };
  CHECK(seen(30).gpu_util_pct == 0);
  CHECK(seen(30).sharing_score == 0);
  CHECK(seen(40).gpu_util_pct == 20);
  CHECK(seen(40).memory_util_pct == 10);
  CHECK(seen(40).sharing_score == 0);
  CHECK(seen(60).gpu_util_pct == 60);
  CHECK(seen(60).sharing_score == 1);
  CHECK(seen(70).gpu_util_pct == 80);
  CHECK(seen(70).sharing_score == 2);
  CHECK(seen(71).gpu_util_pct == 80);
}

}  // namespace
}  // namespace schedmate::study
