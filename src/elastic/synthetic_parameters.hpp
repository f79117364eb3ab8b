// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What invented elastic tables are made from: GPU types and applications by figures that stand on
/// data sheets and in papers, not by measured times (data/elastic/syn_tables.toml has each key).

#include <cstdint>
#include <schedmate/result.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "elastic/gpu_types.hpp"

namespace schedmate::elastic {

struct SyntheticGpuType {
  GpuType gpus;                 ///< `measured_nodes`: a job may have their GPUs, whole or in parts
  double memory_gib = 0;        ///< of one GPU
  double peak_tflops = 0;       ///< of one GPU, in the number format that trainings use
  double node_gb_per_s = 0;     ///< between two GPUs of a node, 1e9 bytes
  double network_gb_per_s = 0;  ///< between two nodes
  double hop_s = 0;             ///< until the first byte of a message is there
};

struct SyntheticApplication {
  std::string name;
  double restart_s = 0, believed_restart_s = 0;
  double slowdown = 1;
  // A step.
  double sample_gflop = 0;         ///< of one sample, forwards and backwards
  std::vector<double> efficiency;  ///< by GPU type: share of the peak that is reached
  double step_s = 0;               ///< of every step, whatever its batch
  double gradient_mb = 0;          ///< exchanged in each step
  double overlap = 1;              ///< of computing and exchange: 1 = none, 10 = nearly full
  // Memory of a GPU.
  double fixed_gib = 0, sample_gib = 0;
  std::int32_t least_batch = 1;  ///< of one GPU; a power of two
  // The training.
  std::vector<std::int32_t> batches;    ///< total; the first is the one that it begins with
  std::int32_t epochs = 1, phases = 1;  ///< the learning rate falls from phase to phase
  double epoch_samples = 0;
  double noise_first = 0, noise_last = 0;  ///< variance / squared gradient, first and last phase
  double squared_last = 1;                 ///< squared gradient in the last phase; 1 in the first
  double lag = 0;  ///< further progress that a run needs for each doubling of its batch
  /// What reading its code would show: keys and values of [[application.model]], as TOML has them.
  std::vector<std::pair<std::string, std::string>> model;
  // Jobs of it.
  double weight = 0;
  std::vector<std::int32_t> replicas;  ///< asked for; each entry is as likely
};

struct SyntheticJobs {
  std::int32_t seed = 1, count = 1;
  double hours = 1;
  double burst_start_h = 0, burst_h = 0;  ///< a time when many come
  double burst_share = 0;                 ///< of the jobs
  /// The batch asked for is that of the beginning, times GPUs, times one of these.
  std::vector<std::int32_t> batch_factors;
};

struct SyntheticParameters {
  std::string tables, cluster;  ///< names of the folder and of the cluster
  std::vector<SyntheticGpuType> types;
  std::vector<SyntheticApplication> applications;
  SyntheticJobs jobs;
};

/// Errors: invalid, "FILE:LINE:COLUMN: what, and what is needed".
[[nodiscard]] Result<SyntheticParameters> parse_synthetic_parameters(std::string_view toml,
                                                                     const std::string& file);

/// The largest batch, a power of two, that the memory of one such GPU holds; 0 when none.
[[nodiscard]] std::int32_t largest_batch_in_memory(const SyntheticApplication& application,
                                                   const SyntheticGpuType& type);

}  // namespace schedmate::elastic
