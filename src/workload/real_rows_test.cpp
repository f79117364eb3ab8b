// SPDX-License-Identifier: Apache-2.0

/// On real rows a model must say nothing of a job's duration beyond what any draw of models for
/// the same templates would (the labels that Lucid's authors drew explain 55 %).

#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <schedmate/trace.hpp>
#include <schedmate/workload.hpp>

#include "base/random.hpp"
#include "tests/support/places.hpp"

namespace schedmate::workload {
namespace {

using testing::data;

/// Share of the variance of log durations that (model, GPUs) explains.
double explained(const Trace& trace, const std::vector<std::uint32_t>& model_of_row) {
  struct Sum {
    double count = 0, logs = 0;
  };
  std::map<std::pair<std::uint32_t, std::int32_t>, Sum> groups;
  Sum all;
  double squares = 0;
  for (std::size_t row = 0; row < trace.jobs.size(); ++row) {
    const double log_s =
        std::log(std::max(1.0, static_cast<double>(trace.jobs[row].duration.count())));
    Sum& group = groups[{model_of_row[row], trace.jobs[row].gpus}];
    for (Sum* each : {&group, &all}) {
      each->count += 1;
      each->logs += log_s;
    }
    squares += log_s * log_s;
  }
  const double mean_part = all.logs * all.logs / all.count;
  double between = -mean_part;
  for (const auto& [key, group] : groups) between += group.logs * group.logs / group.count;
  return between / (squares - mean_part);
}

std::vector<std::uint32_t> models_of(const Workload& workload) {
  std::vector<std::uint32_t> models;
  for (const std::uint32_t profile : workload.profile_of_row)
    models.push_back(workload.times[profile].model);
  return models;
}

/// The models exchanged among templates of as many GPUs.
std::vector<std::uint32_t> shuffled(const Trace& trace, const Workload& workload,
                                    std::uint64_t seed) {
  std::map<std::uint32_t, std::pair<std::int32_t, std::uint32_t>> templates;
  for (std::size_t row = 0; row < trace.jobs.size(); ++row) {
    templates[workload.template_of_row[row]] = {trace.jobs[row].gpus,
                                                workload.times[workload.profile_of_row[row]].model};
  }
  std::map<std::int32_t, std::vector<std::uint32_t*>> classes;
  for (auto& [number, each] : templates) classes[each.first].push_back(&each.second);
  Random random(mix(seed));
  for (auto& [gpus, models] : classes)
    for (std::size_t left = models.size(); left > 1; --left)
      std::swap(*models[left - 1],
                *models[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(left)))]);
  std::vector<std::uint32_t> models;
  for (const std::uint32_t number : workload.template_of_row)
    models.push_back(templates[number].second);
  return models;
}

void check_draws(const Trace& trace, const std::string& name) {
  const Recipe recipe = read_recipe(data + "recipes/" + name + ".toml").value();
  const auto interference = read_interference(data + "interference.toml").value();
  const auto errors = read_extraction_errors(data + "extraction_errors.toml").value();
  // One draw of a few hundred large templates is a matter of luck; the mean of twenty is not.
  constexpr int draws = 20;
  double expected = 0;
  double ours = 0;
  for (std::uint64_t seed = 1; seed <= draws; ++seed) {
    WorkloadOptions options;
    options.seed = seed;
    const Workload workload = make_workload(trace, {recipe, interference, errors}, options).value();
    ours += explained(trace, models_of(workload)) / draws;
    expected += explained(trace, shuffled(trace, workload, seed)) / draws;
  }
  const double by_gpus = explained(trace, std::vector<std::uint32_t>(trace.jobs.size()));
  MESSAGE(name << ": R^2 of log duration on model and GPUs " << ours << ", shuffled draws "
               << expected << ", GPUs alone " << by_gpus);
  CHECK(std::abs(ours - expected) < 0.02);
}

}  // namespace

TEST_CASE("Venus: models say no more of durations than a shuffled draw") {
  const Trace trace =
      read_trace("helios:" + data + "venus/venus_sept2020_days0-12.csv.gz", {}).value();
  for (const char* name : {"light", "heavy"}) check_draws(trace, name);
}

TEST_CASE("Philly: models say no more of durations than a shuffled draw") {
  const Trace trace = read_trace("philly:" + data + "philly/philly_oct2017.csv.gz", {}).value();
  REQUIRE(trace.jobs.size() > 30'000);
  for (const char* name : {"light", "heavy"}) check_draws(trace, name);
}

}  // namespace schedmate::workload
