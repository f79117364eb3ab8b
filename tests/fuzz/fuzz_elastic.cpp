// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include "base/check.hpp"
#include "elastic/elastic_workload.hpp"
#include "elastic/synthetic_tables.hpp"
#include "tests/fuzz/targets.hpp"

namespace schedmate::fuzz {
namespace {

template <class Value>
void check_refusal(const Result<Value>& result) {
  if (result) return;
  SCHEDMATE_CHECK(result.error().code == ErrorCode::invalid, "what is wrong is the file");
  SCHEDMATE_CHECK(result.error().message.starts_with("input"), "an error says where");
}

/// Seconds above zero, of which communication is a part.
void check_sample(const elastic::MeasuredTime& sample) {
  SCHEDMATE_CHECK(sample.step_s > 0 && sample.step_s <= 1e6, "a step takes time");
  SCHEDMATE_CHECK(sample.sync_s >= 0 && sample.sync_s < sample.step_s, "not all of it is talk");
}

void check_cluster(std::string_view input) {
  const auto cluster = elastic::parse_elastic_cluster(input, "input");
  check_refusal(cluster);
  if (!cluster) return;
  SCHEDMATE_CHECK(!cluster->types.empty() && cluster->gpus() >= 1, "a cluster has GPUs");
  for (const elastic::GpuType& type : cluster->types) {
    SCHEDMATE_CHECK(elastic::is_folder_name(type.name), "its tables lie in their folder");
    if (type.nodes > 1000) return;  // a list of all configurations would be long
  }
  for (const elastic::Configuration& each : elastic::configurations_of(*cluster)) {
    const elastic::GpuType& type = cluster->types.at(each.type);
    SCHEDMATE_CHECK(each.gpus >= 1 && each.gpus <= type.gpus(), "a configuration has room");
    SCHEDMATE_CHECK(each.gpus <= each.nodes * type.gpus_per_node, "also on its nodes");
  }
}

void check_applications(std::string_view input) {
  const auto all = elastic::parse_applications(input, "input");
  check_refusal(all);
  if (!all) return;
  for (const elastic::ApplicationTraits& traits : *all) {
    SCHEDMATE_CHECK(elastic::is_folder_name(traits.name),
                    "an application is a folder among the tables");
    SCHEDMATE_CHECK(traits.restart_s >= 0 && traits.slowdown > 0, "time goes forward");
    for (const auto& [type, batch] : traits.most_batch)
      SCHEDMATE_CHECK(batch >= 1, "a cap leaves a sample");
  }
}

void check_placement(std::string_view input) {
  const auto placement = elastic::parse_placement(input);
  if (!placement) return;
  SCHEDMATE_CHECK(elastic::parse_placement(elastic::text_of(*placement)) == placement,
                  "written as it was read");
  if (placement->size() > 100) return;
  const elastic::GpusByNode small = elastic::normalised(*placement);
  SCHEDMATE_CHECK(small <= *placement && elastic::normalised(small) == small,
                  "the smallest rotation");
}

/// Whatever a table says it has, it has an answer for.
void check_table(const std::vector<elastic::MeasuredStep>& steps) {
  const elastic::StepTable table(steps);
  SCHEDMATE_CHECK(table.single_gpu_throughput() > 0, "one GPU gets on");
  SCHEDMATE_CHECK(table.least_batch() <= table.most_batch(), "batches have a range");
  for (const elastic::MeasuredStep& step : steps) {
    if (step.placement.empty() || step.placement.size() > 20) continue;
    const auto sample = table.at(step.placement, step.batch);
    SCHEDMATE_CHECK(sample.has_value(), "what was measured is known");
    check_sample(*sample);
    elastic::GpusByNode wider = step.placement;
    wider.push_back(wider.back());
    const double most = table.most_batch(wider);
    if (const auto there = table.at(wider, most)) check_sample(*there);
  }
}

void check_csv(std::string_view input) {
  const auto placements = elastic::parse_placements(input, "input");
  const auto scalability = elastic::parse_scalability(input, "input");
  const auto training = elastic::parse_training(input, "input", 16);
  check_refusal(placements);
  check_refusal(scalability);
  check_refusal(training);
  if (placements) check_table(*placements);
  if (!training) return;
  const elastic::TrainingTable table({*training});
  for (std::size_t epoch = 1; epoch < table.epochs(); ++epoch)
    SCHEDMATE_CHECK(table.end_of(epoch) > table.end_of(epoch - 1), "progress rises");
}

/// Jobs of applications whose tables are always there.
void check_jobs(std::string_view input) {
  std::vector<elastic::ApplicationTraits> known(2);
  known[0].name = "syn_images";
  known[1].name = "syn_speech";
  const auto load = [](const elastic::ApplicationTraits& traits) -> Result<elastic::Application> {
    return elastic::Application{traits, elastic::TrainingTable({{16, {1}, {{1, 1}}}}), {}, {}};
  };
  const auto workload = elastic::parse_elastic_jobs(input, "input", known, load);
  check_refusal(workload);
  if (!workload) return;
  SCHEDMATE_CHECK(!workload->jobs.empty(), "a workload has jobs");
  SCHEDMATE_CHECK(workload->applications.size() <= known.size(), "each application once");
  SCHEDMATE_CHECK(std::ranges::is_sorted(workload->jobs, {}, &elastic::ElasticJob::submit_s),
                  "by time");
  std::set<std::string_view> names;
  for (const elastic::ElasticJob& job : workload->jobs) {
    SCHEDMATE_CHECK(names.insert(job.name).second && !job.name.empty(), "each has a name");
    SCHEDMATE_CHECK(job.application < workload->applications.size(), "and an application");
    SCHEDMATE_CHECK(job.submit_s >= 0 && job.replicas >= 1 && job.batch >= 1, "and asks for some");
  }
}

/// What is made is of the shape that is read. Large ones are left out: they take long to write.
void check_made(std::string_view input) {
  const auto made = elastic::parse_synthetic_parameters(input, "input");
  check_refusal(made);
  if (!made || made->jobs.count > 1000) return;
  for (const elastic::SyntheticApplication& each : made->applications)
    if (each.epochs > 1000 || each.batches.size() > 20) return;
  for (const elastic::SyntheticFile& file : elastic::make_elastic_tables(*made)) {
    if (file.path.find("/placements-") != std::string::npos)
      SCHEDMATE_CHECK(elastic::parse_placements(file.text, file.path).has_value(),
                      "made steps are read");
    if (file.path.find("/validation-") != std::string::npos)
      SCHEDMATE_CHECK(elastic::parse_training(file.text, file.path, 16).has_value(),
                      "so are trainings");
  }
}

}  // namespace

void fuzz_elastic(std::string_view input) {
  check_cluster(input);
  check_applications(input);
  check_placement(input);
  check_csv(input);
  check_jobs(input);
  check_made(input);
}

}  // namespace schedmate::fuzz
