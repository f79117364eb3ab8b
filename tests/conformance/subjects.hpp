// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What the suite runs over: every row of policies.def and the worked example of docs/adding.md.

#include <map>
#include <schedmate/sim.hpp>
#include <string>
#include <vector>

#include "tests/conformance/random_world.hpp"

namespace schedmate {
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
    if (row.name == "tiresias") {
      all.push_back({row, {{"thresholds", "500+5000"}, {"promote", "2"}, {"interval_s", "10"}}});
    }
  }
  all.push_back({{"aged_sjf", "worked example", make_aged_sjf}, {}});
  return all;
}

struct Prepared {
  Scheduler scheduler;
  SimOptions options;
};

/// The policy on this world; estimator and placer vary with the seed.
inline Prepared prepare(const Subject& subject, const World& world, std::uint64_t seed,
                        const Defects& defects) {
  PolicyOptions settings(subject.settings);
  Prepared prepared{
      make_scheduler(subject.row, {world.trace, world.cluster, defects, seed}, settings).value(),
      {}};
  const std::string estimators[] = {prepared.scheduler.estimator, "column:estimate_s", "oracle"};
  prepared.options.estimator = make_estimator(estimators[seed % 3], {world.trace, seed}).value();
  prepared.options.defects = defects;
  if (seed % 5 == 0) prepared.options.placer = seed % 2 == 0 ? Placer::first_fit : Placer::spread;
  return prepared;
}

inline SimResult replay(const World& world, const Prepared& prepared) {
  return simulate(world.trace, world.cluster, prepared.scheduler, prepared.options).value();
}

}  // namespace schedmate::conformance
