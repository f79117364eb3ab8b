// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What the suite runs over: every row of policies.def and the worked example of docs/adding.md.

#include <map>
#include <memory>
#include <schedmate/sim.hpp>
#include <schedmate/workload.hpp>
#include <string>
#include <vector>

#include "tests/conformance/random_world.hpp"
#include "tests/support/advised.hpp"
#include "tests/support/need.hpp"

namespace schedmate::policy {
Result<Scheduler> make_aged_sjf(const PolicyInput& input, PolicyOptions& settings);
}

namespace schedmate::conformance {

using Settings = std::map<std::string, std::string, std::less<>>;

struct Subject {
  PolicyRow row;
  Settings settings;
};

/// Every row with its defaults, and settings under which preemption and packing are frequent.
inline std::vector<Subject> subjects() {
  std::vector<Subject> all;
  for (const PolicyRow& row : policy_rows()) {
    all.push_back({row, {}});
    if (row.name == "lucid") {
      all.push_back({row, {{"packing", "on"}, {"profiler", "off"}, {"score_limit", "4"}}});
    }
    if (row.name == "lucid+sm") {
      all.push_back({row, {{"packing", "on"}, {"score_limit", "4"}, {"threshold", "1"}}});
      all.push_back({row,
                     {{"packing", "on"},
                      {"cancel", "gain"},
                      {"bypass", "all"},
                      {"check_both", "true"},
                      {"cancel_after_s", "10"}}});
    }
    if (row.name == "tiresias") {
      all.push_back({row, {{"thresholds", "500+5000"}, {"promote", "2"}, {"interval_s", "10"}}});
    }
  }
  all.push_back({{"aged_sjf", "worked example", policy::make_aged_sjf}, {}});
  return all;
}

struct Prepared {
  Scheduler scheduler;
  SimOptions options;
  std::shared_ptr<const Workload> workload{};  ///< what its Advisor reads
};

/// Metadata by the light recipe; it says nothing of the profiles of the world.
inline std::shared_ptr<const Workload> light_workload(const Trace& trace) {
  const std::string data = SCHEDMATE_SOURCE_DIR "/data/";
  static const Recipe recipe = testing::need(read_recipe(data + "recipes/light.toml"));
  static const auto interference = testing::need(read_interference(data + "interference.toml"));
  static const auto errors = testing::need(read_extraction_errors(data + "extraction_errors.toml"));
  return std::make_shared<const Workload>(
      testing::need(make_workload(trace, {recipe, interference, errors}, {})));
}

/// So frequent that most jobs of a world have one.
inline FailureCosts frequent_failures() {
  return {.gpu_hours = 1,
          .checkpoint = Seconds(300),
          .detection = Seconds(60),
          .manual_restart = Seconds(600),
          .handled_restart = Seconds(60),
          .missed_share = 0.3,
          .false_share = 0.3,
          .bad_node_share = 0.3};
}

/// The policy on this world; estimator, placer, failures and logs vary with the seed. No failures
/// in mode reference: the released simulator has none.
inline Prepared prepare(const Subject& subject, const World& world, std::uint64_t seed,
                        const Defects& defects) {
  PolicyOptions settings(subject.settings);
  Prepared prepared{
      testing::need(make_scheduler(
          subject.row, {world.cluster, defects, seed, forecast_of(world.trace)}, settings)),
      {}};
  if (prepared.scheduler.advice.starts_with("advisor"))
    prepared.workload = light_workload(world.trace);
  const std::string estimators[] = {prepared.scheduler.estimator, "column:estimate_s", "oracle"};
  prepared.options.estimator = testing::need(
      make_estimator(prepared.scheduler, estimators[seed % 3],
                     testing::replay_input(world.trace, seed, prepared.workload.get())));
  prepared.options.defects = defects;
  prepared.options.seed = seed;
  if (seed % 4 == 1) prepared.options.costs.tracked_share = 0.5;
  if (seed % 4 == 2) prepared.options.costs.advice = Seconds(60);
  if (seed % 4 == 3 && !defects.late_end) prepared.options.costs.failures = frequent_failures();
  if (seed % 5 == 0) prepared.options.placer = seed % 2 == 0 ? Placer::first_fit : Placer::spread;
  return prepared;
}

inline SimResult replay(const World& world, const Prepared& prepared) {
  return testing::need(simulate(world.trace, world.cluster, prepared.scheduler, prepared.options));
}

}  // namespace schedmate::conformance
