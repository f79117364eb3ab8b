// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What is predicted of a job when it enters the queue. An `Estimator` sees the job and the
/// `History` of its virtual cluster: jobs that have finished there so far, so none looks ahead
/// (except `oracle`, `noisy_oracle` and `limit`). It may keep what it learned; copying it copies
/// that. Each virtual cluster has a copy of its own. Rows: src/policy/estimators.def.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <schedmate/job.hpp>
#include <schedmate/result.hpp>
#include <schedmate/time.hpp>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace schedmate {

struct Workload;

/// What a job does to each of its GPUs, as measured while it runs (paper 4.1).
struct GpuUse {
  double gpu_util_pct = 0;
  double memory_util_pct = 0;  ///< of the memory's bandwidth
  double memory_mib = 0;
  bool operator==(const GpuUse&) const = default;
};

/// What is foretold of one job.
struct Prediction {
  FractionalSeconds run_time{0};  ///< alone on its GPUs
  /// Nine of ten such jobs run for longer; 0 = not known.
  FractionalSeconds low{0};
  /// Nothing is known of this job: run_time is only a stand-in.
  bool blind = false;
  /// With advice that leaves run_time to the host: the run time that is expected; 0 = run_time.
  FractionalSeconds expected{0};
  double advised = 0;  ///< how much of it is advice beside the host's own estimate, 0 to 1
  /// What it stands on (AdviceSource of the advisor, else 0): skill is measured for each alone.
  std::uint8_t source = 0;
  std::optional<GpuUse> use{};  ///< of similar jobs that were measured
};

/// The finished jobs of one virtual cluster, oldest first.
class History {
 public:
  struct Finished {
    std::uint32_t row = 0;  ///< index into Trace::jobs
    SimTime end;
  };
  void add(const Job& job, const Finished& finished);
  [[nodiscard]] std::span<const Finished> finished() const { return finished_; }
  /// Run times of this user's jobs with this GPU count; empty when there is none.
  [[nodiscard]] std::span<const Seconds> of(std::uint32_t user, std::int32_t gpus) const;
  struct Mean {
    std::int64_t sum_s = 0;
    std::int64_t count = 0;
    [[nodiscard]] FractionalSeconds value() const {
      return FractionalSeconds(static_cast<double>(sum_s) / static_cast<double>(count));
    }
  };
  [[nodiscard]] Mean of_user(std::uint32_t user) const;
  [[nodiscard]] Mean of_all() const { return all_; }
  /// Sum of the natural logarithms of all run times in seconds, each at least one second.
  [[nodiscard]] double sum_of_logs() const { return sum_of_logs_; }

 private:
  std::vector<Finished> finished_;
  std::unordered_map<std::uint64_t, std::vector<Seconds>> by_shape_;
  std::unordered_map<std::uint32_t, Mean> by_user_;
  Mean all_;
  double sum_of_logs_ = 0;
};

/// A job that enters, and what is known by then.
struct Entering {
  const Job& job;
  std::size_t row = 0;  ///< of the job in its Trace
  SimTime now;
  const History& history;
  bool advice_is_due = true;  ///< Costs::advice has passed since its submission
};
using Estimator = std::function<Prediction(const Entering& entering)>;

/// One row of estimators.def.
struct EstimatorRow {
  std::string_view name;
  std::string_view summary;
};
[[nodiscard]] std::span<const EstimatorRow> estimator_rows();

/// What the Advisor makes of a workload's jobs, and of each pair of them: costly, and the same in
/// every replay of the workload. Threads may share it.
class ComparedJobs;
[[nodiscard]] std::shared_ptr<ComparedJobs> compared_jobs();

/// What an estimator may be made of. All of it outlives the estimator.
struct EstimatorInput {
  const Trace& trace;
  std::uint64_t seed = 1;
  const Workload* workload = nullptr;  ///< metadata of the trace's jobs, for the Advisor
  /// Of this workload, its rows in any order; null = made anew.
  std::shared_ptr<ComparedJobs> compared = nullptr;
};

/// The Advisor on the metadata of a workload (src/advisor).
struct AdvisorChoice {
  bool paper = false;                             ///< as published, without ours
  std::optional<std::size_t> top = std::nullopt;  ///< stands on so many matches, the best
};
[[nodiscard]] Estimator advisor_on(const EstimatorInput& input, const AdvisorChoice& choice);

/// Makes an estimator from "NAME" or "NAME:ARGUMENT". Errors: not_found with the nearest name;
/// invalid when the trace lacks what it needs; unsupported for an argument of another form.
[[nodiscard]] Result<Estimator> make_estimator(std::string_view spec, const EstimatorInput& input);

}  // namespace schedmate
