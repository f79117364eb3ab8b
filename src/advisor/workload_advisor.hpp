// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The Advisor in the loop of a replay: the order of an advice (order_of_advice.hpp) on the
/// metadata of a Workload and the jobs that have ended so far (replayed_jobs.hpp). A test holds it
/// against advise(), which asks a Store for them.

#include <memory>
#include <schedmate/advice.hpp>
#include <schedmate/estimator.hpp>
#include <schedmate/search.hpp>
#include <schedmate/workload.hpp>
#include <string>
#include <unordered_map>
#include <vector>

#include "advisor/advisor_on.hpp"
#include "advisor/compared_jobs.hpp"
#include "advisor/similar.hpp"

namespace schedmate::advisor {

class WorkloadAdvisor {
 public:
  struct Options {
    SimilarityOptions similarity;
    const EstimateRow* estimate = nullptr;
    bool admission = true;  ///< earlier submissions of the same job go before similar ones
    /// So many matches alone, the best; else all that were found, and of GPU use three.
    std::optional<std::size_t> top = std::nullopt;
    std::shared_ptr<ComparedJobs> compared = compared_jobs();
    bool answers = false;  ///< answer_row() may be called
    LimitPolicy limits = {};
  };
  WorkloadAdvisor(const Trace& trace, const Workload& workload, Options options);
  /// Begins with an empty history: a copy is for another virtual cluster.
  WorkloadAdvisor(const WorkloadAdvisor& other);
  WorkloadAdvisor& operator=(const WorkloadAdvisor&) = delete;
  WorkloadAdvisor(WorkloadAdvisor&&) = default;
  WorkloadAdvisor& operator=(WorkloadAdvisor&&) = delete;
  ~WorkloadAdvisor();

  /// A job of the workload that has ended.
  void learn(const FinishedJob& ended);
  /// The estimate of advise(), after all that has been learned.
  [[nodiscard]] Estimate advise_row(const EnteringJob& entering);
  /// The answer of advise() to a submission without a limit; in place of advise_row().
  [[nodiscard]] RunAnswer answer_row(const EnteringJob& entering);
  /// The same as a prediction: the median and the mean GPU use of the matches.
  Prediction operator()(const EnteringJob& entering);

 private:
  class Memory;
  const Trace& trace_;
  const Workload& workload_;
  Options options_;
  std::unique_ptr<Memory> memory_;
};

}  // namespace schedmate::advisor
