// SPDX-License-Identifier: Apache-2.0
#include "study/experiment_file.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <set>

namespace schedmate::study {

TEST_CASE("every experiment of the report can be read, and no two write the same CSV") {
  std::set<std::string> names;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(SCHEDMATE_SOURCE_DIR "/experiments")) {
    if (entry.path().extension() != ".toml") continue;
    const auto experiment = read_experiment(entry.path().string());
    REQUIRE_MESSAGE(experiment, experiment.error().message);
    CHECK_MESSAGE(names.insert(experiment->name).second, experiment->name);
    if (!experiment->estimates) CHECK_MESSAGE(experiment->perturbations >= 20, experiment->name);
  }
  CHECK(names.size() >= 20);
}

TEST_CASE("settings of the file, of the arm and of the sweep, the later ones first") {
  const auto experiment =
      read_experiment(SCHEDMATE_SOURCE_DIR "/experiments/full/fig15c_detection.toml").value();
  REQUIRE(experiment.points.size() == 6);
  const auto at_half =
      settings_of(settings::Settings(), experiment, experiment.arms.back(), experiment.points[2])
          .value();
  CHECK(at_half.text("cost.tracked_pct") == "50");
  CHECK(at_half.text("workload") == "heavy");
  CHECK(at_half.text("threads") == "1");
}

TEST_CASE("standard arms change the advice or what the Advisor sees, nothing else") {
  const auto experiment =
      read_experiment(SCHEDMATE_SOURCE_DIR "/experiments/qssf_venus.toml").value();
  const auto arm = [&](std::string_view label) {
    return *std::ranges::find(experiment.arms, label, &ExperimentArm::label);
  };
  CHECK(experiment.arms.front().label == "qssf");
  CHECK(arm("sm.last_k").policy == "qssf+sm:estimate=gbdt,advice=last_k:use");
  CHECK(arm("sm.oracle").policy == "qssf+sm:estimate=gbdt,advice=oracle:use,shrink=false");
  CHECK(arm("sm.own").policy == arm("sm").policy);
  CHECK(arm("sm.own").settings.at("workload_shuffle") == "own");
  CHECK(arm("sm.all").settings.at("workload_shuffle") == "all");
}

}  // namespace schedmate::study
