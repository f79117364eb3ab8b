// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The published figures of a cluster from which a synthetic trace is drawn (data/synth/*.toml;
/// docs/formats/generate.md names every key). Shares are percent, as printed.

#include <array>
#include <cstdint>
#include <schedmate/job.hpp>
#include <schedmate/result.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace schedmate::synth {

/// Percent of all (jobs, GPU time, ...) with a value of at most `x`.
struct CdfPoint {
  double x = 0;
  double percent = 0;
};
using Cdf = std::vector<CdfPoint>;

/// Completed, cancelled, failed: the index of these shares.
constexpr std::array<EndState, 3> synth_states = {EndState::completed, EndState::cancelled,
                                                  EndState::failed};
using StateShares = std::array<double, 3>;
[[nodiscard]] constexpr double sum_of(const StateShares& shares) {
  return shares[0] + shares[1] + shares[2];
}

struct WorkType {
  std::string name;             ///< "" when the cluster's jobs have no types
  double job_percent = 100;     ///< of the GPU jobs
  double gpu_time_percent = 0;  ///< of their GPU time; 0: not published
  bool batches = true;          ///< submitted in batches
  std::vector<double> gpus;     ///< lower whisker, quartiles, upper whisker; empty: not published
  Cdf duration_cdf;             ///< seconds
};

struct ClusterFigures {
  std::string name, vc;
  int nodes = 0;
  int gpus_per_node = 0;
  std::int64_t gpu_memory_mib = 0;
  double gpu_jobs = 0;  ///< in `days`
  double days = 0;
  double mean_run_s = 0;
  double mean_gpus = 0;
  double max_run_s = 0;
  StateShares state_percent{};     ///< of the jobs
  StateShares state_gpu_time_s{};  ///< GPU seconds
  std::array<double, 24> hourly{};
  std::int64_t users = 0;
  Cdf user_share;                  ///< top percent of users, percent of GPU time
  Cdf gpu_cdf, gpu_time_cdf;       ///< by GPUs: of jobs, of GPU time
  double gpu_cdf_holds_to = 1e6;   ///< GPUs; above them it contradicts mean_gpus
  std::vector<double> large_gpus;  ///< GPU counts that the figures do not distinguish
  Cdf duration_cdf;                ///< of all types together
  std::vector<std::array<double, 4>> state_by_gpus;  ///< GPUs at least, then StateShares
  std::vector<WorkType> types;                       ///< one without a name when there are none

  [[nodiscard]] double jobs_per_day() const { return gpu_jobs / days; }
  /// GPU seconds of a job.
  [[nodiscard]] double mean_gpu_s() const {
    return (state_gpu_time_s[0] + state_gpu_time_s[1] + state_gpu_time_s[2]) / gpu_jobs;
  }
  [[nodiscard]] std::int64_t gpus() const { return std::int64_t{nodes} * gpus_per_node; }
};

/// How jobs follow each other, measured on real rows.
struct Behaviour {
  std::vector<double> quantile_percent;
  std::array<std::vector<double>, 3> duration_quantiles;  ///< seconds, by state
  std::array<StateShares, 3> next_state{};                ///< percent: rows before, columns after
  double same_shape_within_hour = 0;                      ///< percent
  double repeat_log2_median = 0;
  double repeat_within_factor_2 = 0;  ///< percent
  double random_within_factor_2 = 0;  ///< percent
  double zero_gap_percent = 0;
  double gap_cv = 0;
  double resume_after_s = 0;
  double resumed_percent = 0;
  double checkpoint_s = 0;
};

/// Mean and median of a lognormal.
struct Spread {
  double mean = 0;
  double median = 0;
};

struct FailureCause {
  std::string reason;
  std::string kind;       ///< infrastructure, framework, user_script
  std::string component;  ///< "" when none
  double count = 0;
  Spread gpus, minutes, restart_minutes;
  int min_gpus = 1;
  bool evaluation = true;  ///< may happen in evaluation jobs
};

struct Published {
  ClusterFigures cluster;
  Behaviour behaviour;
  std::vector<FailureCause> causes;
};

/// Errors: invalid, naming file, line and key.
[[nodiscard]] Result<ClusterFigures> parse_figures(std::string_view text, const std::string& name);
[[nodiscard]] Result<Behaviour> parse_behaviour(std::string_view text, const std::string& name);
[[nodiscard]] Result<std::vector<FailureCause>> parse_causes(std::string_view text,
                                                             const std::string& name);

}  // namespace schedmate::synth
