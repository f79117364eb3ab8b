// SPDX-License-Identifier: Apache-2.0
#include "elastic/synthetic_tables.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "base/input.hpp"
#include "elastic/elastic_workload.hpp"
#include "elastic/sia.hpp"
#include "tests/support/near.hpp"
#include "tests/support/places.hpp"

namespace schedmate::elastic {
namespace {

using testing::near;

namespace fs = std::filesystem;

const std::string synthetic_folder = testing::data + "elastic/";
const std::string synthetic_source = synthetic_folder + "syn_tables.toml";

std::string synthetic_text() { return read_file(synthetic_source).value(); }

SyntheticParameters bundled_parameters() {
  auto made = parse_synthetic_parameters(synthetic_text(), synthetic_source);
  REQUIRE_MESSAGE(made.has_value(), made.error().message);
  return *made;
}

ElasticCluster synthetic_cluster() {
  const std::string path = synthetic_folder + "syn40.toml";
  return parse_elastic_cluster(read_file(path).value(), path).value();
}

ElasticWorkload synthetic_bundled_workload() {
  const ElasticFiles files{synthetic_folder + "syn/jobs.csv", synthetic_folder + "syn",
                           synthetic_folder + "syn/applications.toml"};
  auto workload = read_elastic_workload(files, synthetic_cluster());
  REQUIRE_MESSAGE(workload.has_value(), workload.error().message);
  return std::move(*workload);
}

/// All that a job could measure of whole nodes and of 1, 2, 4, ... GPUs of one.
std::vector<ObservedStep> observations(const StepTable& table, const GpuType& type) {
  std::vector<ObservedStep> steps;
  for (const Configuration& each : configurations_of({"one", {type}})) {
    const GpusByNode placement(static_cast<std::size_t>(each.nodes), each.gpus / each.nodes);
    for (double batch = table.least_batch(); batch <= table.most_batch(); batch *= 2) {
      const auto time = table.at(placement, batch);
      REQUIRE(time.has_value());
      steps.push_back({{each.nodes, each.gpus, static_cast<std::int32_t>(batch)},
                       time->step_s,
                       time->step_s - time->sync_s});
    }
  }
  return steps;
}

double worst_of_fit(const std::vector<ObservedStep>& steps) {
  const ThroughputModel model = fit(steps, nullptr, FitSearch::best);
  double worst = 0;
  for (const ObservedStep& step : steps) {
    const ModelledTime time = step_time(model, step.shape);
    worst = std::max({worst, std::abs(time.optimisation_s / step.step_s - 1),
                      std::abs(time.accumulation_s / step.compute_s - 1)});
  }
  return worst;
}

TEST_CASE("synthetic tables: the bundled files are what their parameters make, and nothing else") {
  std::set<std::string> paths;
  for (const SyntheticFile& file : make_elastic_tables(bundled_parameters())) {
    CAPTURE(file.path);
    const auto committed = read_file(synthetic_folder + file.path);
    REQUIRE(committed.has_value());
    CHECK(*committed == file.text);
    CHECK(paths.insert(file.path).second);
  }
  std::uintmax_t bytes = 0;
  for (const auto& entry : fs::recursive_directory_iterator(synthetic_folder + "syn")) {
    if (!entry.is_regular_file()) continue;
    bytes += entry.file_size();
    CHECK(paths.contains(fs::relative(entry.path(), synthetic_folder).generic_string()));
  }
  CHECK(bytes < 150'000);
}

TEST_CASE(
    "synthetic tables: they are read without a complaint, and every configuration has a time") {
  const ElasticCluster cluster = synthetic_cluster();
  CHECK(cluster.gpus() == 40);
  const ElasticWorkload workload = synthetic_bundled_workload();
  CHECK(workload.jobs.size() == 60);
  REQUIRE(workload.applications.size() == 4);
  for (const Application& application : workload.applications) {
    CAPTURE(application.traits.name);
    for (const Configuration& each : configurations_of(cluster)) {
      const GpusByNode placement(static_cast<std::size_t>(each.nodes), each.gpus / each.nodes);
      const StepTable& table = *application.tables[each.type];
      CHECK(table.at(placement, table.least_batch()).has_value());
      CHECK(table.most_batch(placement) == table.most_batch());
    }
  }
}

TEST_CASE("synthetic tables: parts of nodes have times, too, for all that one type has") {
  const ElasticCluster cluster = synthetic_cluster();
  for (const Application& application : synthetic_bundled_workload().applications)
    for (std::size_t type = 0; type < cluster.types.size(); ++type) {
      const std::int32_t node = cluster.types[type].gpus_per_node;
      const StepTable& table = *application.tables[type];
      for (std::int32_t nodes = 2; nodes <= cluster.types[type].nodes; ++nodes)
        for (std::int32_t last = 1; last <= node; ++last) {
          GpusByNode placement(static_cast<std::size_t>(nodes), 1);
          placement.back() = last;
          CHECK(table.at(placement, table.least_batch()).has_value());
          CHECK(table.most_batch(placement) == table.most_batch());
        }
    }
}

TEST_CASE("synthetic tables: a fit finds the step times again within 1 %") {
  const ElasticCluster cluster = synthetic_cluster();
  for (const Application& application : synthetic_bundled_workload().applications)
    for (std::size_t type = 0; type < cluster.types.size(); ++type) {
      CAPTURE(application.traits.name);
      CAPTURE(cluster.types[type].name);
      CHECK(worst_of_fit(observations(*application.tables[type], cluster.types[type])) < 0.01);
    }
}

TEST_CASE("synthetic tables: a model from data sheets, worked out by hand") {
  SyntheticParameters made = bundled_parameters();
  SyntheticGpuType& type = made.types[0];
  type.gpus = {"a", 4, 4, 2};
  type.peak_tflops = 100;
  type.node_gb_per_s = 10;
  type.network_gb_per_s = 1;
  type.hop_s = 0.001;
  SyntheticApplication& application = made.applications[0];
  application.sample_gflop = 50;
  application.efficiency[0] = 0.5;
  application.gradient_mb = 100;
  application.step_s = 0.02;
  application.overlap = 3;
  const ThroughputModel model = synthetic_model(application, made.types, 0);
  CHECK(model.compute_s == 0.02);
  CHECK(near(model.compute_per_sample_s, 0.001, 1e-12, 0));  // 50 GFLOP at 50 TFLOP/s
  // Two GPUs: 0.1 GB at 10 GB/s, 2 hops. Four: 1.5 times the volume, 6 hops.
  CHECK(near(model.within_node_s, 0.012, 1e-12, 0));
  CHECK(near(model.within_node_per_replica_s, (0.021 - 0.012) / 2, 1e-12, 0));
  CHECK(near(model.between_nodes_s, 0.102, 1e-12, 0));
  CHECK(near(model.between_nodes_per_replica_s, 0, 0, 1e-12));  // 2 is the widest
  CHECK(model.overlap == 3);
}

TEST_CASE("synthetic tables: memory bounds the batch of a GPU") {
  SyntheticParameters made = bundled_parameters();
  SyntheticApplication& application = made.applications[0];
  application.fixed_gib = 2;
  application.sample_gib = 0.5;
  made.types[0].memory_gib = 10;
  CHECK(largest_batch_in_memory(application, made.types[0]) == 16);
  made.types[0].memory_gib = 9.9;
  CHECK(largest_batch_in_memory(application, made.types[0]) == 8);
  made.types[0].memory_gib = 2.4;
  CHECK(largest_batch_in_memory(application, made.types[0]) == 0);
}

TEST_CASE("synthetic tables: late in a training large batches learn better") {
  for (const Application& application : synthetic_bundled_workload().applications) {
    const TrainingTable& training = application.training;
    const auto gain_at = [&](std::size_t epoch) {
      const double most = training.most_batch();
      return gain(training.noise_at(most, epoch), most, training.initial_batch());
    };
    CHECK(gain_at(training.epochs() - 1) > 1.5 * gain_at(0));
    CHECK(gain_at(training.epochs() - 1) < training.most_batch() / training.initial_batch());
  }
}

TEST_CASE("synthetic tables: jobs come in their hours, the burst and all, and differ by seed") {
  SyntheticParameters made = bundled_parameters();
  const ElasticWorkload workload = synthetic_bundled_workload();
  std::size_t burst = 0;
  for (const ElasticJob& job : workload.jobs) {
    CHECK(job.submit_s < made.jobs.hours * 3600);
    const double hours = job.submit_s / 3600 - made.jobs.burst_start_h;
    if (hours >= 0 && hours < made.jobs.burst_h) ++burst;
    CHECK(job.replicas <= 8);
    const Application& application = workload.applications[job.application];
    CHECK(job.batch <= application.training.most_batch());
    for (std::size_t type = 0; type < made.types.size(); ++type)
      CHECK(job.batch >= job.replicas * application.least_batch(type));
  }
  CHECK(burst >= 12);  // 5 without the burst
  CHECK(burst <= 30);
  const std::string first = make_elastic_tables(made)[2].text;
  made.jobs.seed = 2;
  CHECK(make_elastic_tables(made)[2].text != first);
}

TEST_CASE(
    "synthetic tables: Sia keeps the cluster busy, and no job asks for what was not measured") {
  const auto result =
      run_rounds(synthetic_bundled_workload(), synthetic_cluster(), sia_policy({}), {});
  REQUIRE_MESSAGE(result.has_value(), result.error().message);
  CHECK(result->mean_active > 6);
  CHECK(result->mean_active < 12);
  for (const ElasticOutcome& job : result->jobs) {
    CHECK(job.completion_s - job.submit_s > 5 * 60);
    CHECK(job.completion_s - job.submit_s < 4 * 3600);
  }
}

/// What must be refused, at the line of `after`.
struct MadeMistake {
  std::string before, after, why;
};

void check_mistake(const MadeMistake& mistake) {
  CAPTURE(mistake.after);
  std::string text = synthetic_text();
  const std::size_t at = text.find(mistake.before);
  REQUIRE(at != std::string::npos);
  text.replace(at, mistake.before.size(), mistake.after);
  const auto line = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
  const auto made = parse_synthetic_parameters(text, "syn.toml");
  REQUIRE_FALSE(made.has_value());
  CHECK(made.error().code == ErrorCode::invalid);
  CAPTURE(made.error().message);
  CHECK(made.error().message.starts_with("syn.toml:" + std::to_string(line + 1) + ":"));
  CHECK(made.error().message.find(mistake.why) != std::string::npos);
}

TEST_CASE(
    "synthetic tables: mistakes in the parameters are reported with their line and what is "
    "needed") {
  const std::vector<MadeMistake> mistakes{
      {"tables = \"syn\"", "tables = \"../syn\"", "must consist of letters, digits"},
      {"name = \"syn_medium\"", "name = \"syn_small\"", "syn_small is listed twice"},
      {"memory_gib = 16", "memory_gib = \"16\"", "memory_gib must be a number from"},
      {"hop_s = 30e-6", "hop = 30e-6", "unknown key 'hop' (nearest: hop_s"},
      {"efficiency = [0.24, 0.2, 0.15]", "efficiency = [0.24, 0.2]", "must list 3 numbers"},
      {"least_batch = 16", "least_batch = 12", "must be a power of two"},
      {"least_batch = 16", "least_batch = 256", "GiB, but a GPU of type syn_small has 16"},
      {"batches = [64, 128,", "batches = [64, 64,", "batches must increase"},
      {"batches = [64, 128,", "batches = [8, 128,", "must not start below least_batch = 16"},
      {"sample_gflop = 12", "sample_gflop = 12e6", "a step on syn_small must take"},
      {"gradient_mb = 100", "gradient_mb = 1e6",
       "the exchange on syn_small must take at most 1000 times"},
      {"phases = 3", "phases = 300", "not be more phases than the 30 epochs"},
      {"replicas = [1, 1, 1, 2, 2, 4]", "replicas = [1, 17]",
       "must be a whole number from 1 to 16"},
      {"noise_last = 60", "noise_last = 0", "noise_last must be a number from"},
      {"burst_h = 0.5", "burst_h = 5", "must end within the 6 hours"},
      {"optimizer = \"SGD\"", "optimizer = 'S\"GD'", "must not contain a quote"},
  };
  for (const MadeMistake& mistake : mistakes) check_mistake(mistake);
}

TEST_CASE("synthetic tables: what is missing is named with the line of its table") {
  std::string text = synthetic_text();
  const std::size_t at = text.find("overlap = ");
  text.erase(at, text.find('\n', at) + 1 - at);
  const auto made = parse_synthetic_parameters(text, "syn.toml");
  REQUIRE_FALSE(made.has_value());
  CHECK(made.error().message.find("overlap is missing here") != std::string::npos);
}

TEST_CASE("synthetic tables: a workload needs an application that has jobs") {
  std::string text = synthetic_text();
  for (std::size_t at = text.find("\nweight = "); at != std::string::npos;
       at = text.find("\nweight = ", at + 1))
    text.replace(at, text.find('\n', at + 1) - at, "\nweight = 0");
  const auto made = parse_synthetic_parameters(text, "syn.toml");
  REQUIRE_FALSE(made.has_value());
  CHECK(made.error().message.find("at least one [[application]]") != std::string::npos);
}

}  // namespace
}  // namespace schedmate::elastic
