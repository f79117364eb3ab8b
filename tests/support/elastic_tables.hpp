// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Applications whose tables are made with the throughput model itself, so that what is true of
/// them is known.

#include <cmath>
#include <string>
#include <vector>

#include "elastic/application.hpp"
#include "elastic/rounds.hpp"

namespace schedmate::testing {

/// `slow`: how much slower the type is than the model's.
inline elastic::StepTable made_steps(const elastic::ThroughputModel& model,
                                     const elastic::GpuType& type, double slow) {
  std::vector<elastic::MeasuredStep> rows;
  std::vector<elastic::GpusByNode> placements;
  for (std::int32_t gpus = 1; gpus <= type.gpus_per_node; ++gpus) placements.push_back({gpus});
  for (std::int32_t nodes = 2; nodes <= type.nodes; ++nodes)
    placements.emplace_back(static_cast<std::size_t>(nodes), type.gpus_per_node);
  for (const elastic::GpusByNode& placement : placements) {
    const auto nodes = static_cast<std::int32_t>(placement.size());
    for (std::int32_t batch = 8; batch <= 256; batch *= 2) {
      const auto parts = elastic::step_time(model, {nodes, elastic::replicas_of(placement), batch});
      rows.push_back(
          {placement,
           nodes,
           elastic::replicas_of(placement),
           static_cast<double>(batch),
           {slow * parts.optimisation_s, slow * (parts.optimisation_s - parts.accumulation_s)}});
    }
  }
  return elastic::StepTable(rows);
}

/// Ten epochs of `steps` steps at 64 samples; larger batches learn nearly as well.
inline elastic::TrainingTable made_training(double steps) {
  std::vector<elastic::TrainingRun> runs;
  for (const double batch : {64.0, 256.0, 1024.0}) {
    elastic::TrainingRun run{batch, {}, {}};
    for (int epoch = 1; epoch <= 10; ++epoch) {
      run.progress.push_back(steps * epoch);
      run.noise.push_back({1.0, 10.0 * epoch});
    }
    runs.push_back(std::move(run));
  }
  return elastic::TrainingTable(std::move(runs));
}

/// Two GPU types: 4 nodes of 4, twice as slow, and 2 nodes of 8.
inline elastic::ElasticCluster small_cluster() {
  return {"small", {{"slow", 4, 4, 4}, {"fast", 2, 8, 2}}};
}

/// About `minutes` on one fast GPU.
inline elastic::Application made_application(const std::string& name, double minutes) {
  const elastic::ElasticCluster cluster = small_cluster();
  const elastic::ThroughputModel model{0.02, 0.001, 0.03, 0.001, 0.01, 0.0005, 2};
  elastic::Application application{
      {name, 30, 30, 1, {}, {}}, made_training(minutes * 60 / 0.084 / 10), {}, {}};
  for (std::size_t type = 0; type < cluster.types.size(); ++type) {
    application.tables.emplace_back(made_steps(model, cluster.types[type], type == 0 ? 2 : 1));
    application.most_batch_of_type.push_back(application.tables.back()->most_batch());
  }
  return application;
}

/// `count` jobs, one every `gap_s`, of these applications in turn.
inline elastic::ElasticWorkload made_workload(std::vector<elastic::Application> applications,
                                              int count, double gap_s) {
  elastic::ElasticWorkload workload;
  for (int i = 0; i < count; ++i) {
    elastic::ElasticJob job;
    job.name = "job-" + std::to_string(i);
    job.submit_s = i * gap_s;
    job.application = static_cast<std::size_t>(i) % applications.size();
    job.batch = 1024;
    workload.jobs.push_back(std::move(job));
  }
  workload.applications = std::move(applications);
  return workload;
}

}  // namespace schedmate::testing
