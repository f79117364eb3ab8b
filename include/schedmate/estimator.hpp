// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Duration estimates. An `Estimator` is a pure function of a job and the `History` of its virtual
/// cluster: jobs that have finished there so far, so none looks ahead (except `oracle`, by name).
/// The driver asks once, when the job enters the queue. Rows: src/policy/estimators.def.

#include <cstdint>
#include <functional>
#include <schedmate/job.hpp>
#include <schedmate/result.hpp>
#include <schedmate/time.hpp>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace schedmate {

/// Run times of the finished jobs of one virtual cluster, oldest first.
class History {
 public:
  void add(const Job& job);
  /// Finished jobs of this user with this GPU count; empty when there is none.
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

 private:
  std::unordered_map<std::uint64_t, std::vector<Seconds>> by_shape_;
  std::unordered_map<std::uint32_t, Mean> by_user_;
  Mean all_;
};

/// `row` is the job's index in its Trace (for columns).
using Estimator =
    std::function<FractionalSeconds(const Job& job, std::size_t row, const History& history)>;

/// One row of estimators.def.
struct EstimatorRow {
  std::string_view name;
  std::string_view summary;
};
[[nodiscard]] std::span<const EstimatorRow> estimator_rows();

/// Makes an estimator from "oracle", "column:NAME", "user_mean", "last_k", "last_k:K",
/// "limit[:FACTOR]". It refers to the trace, which must outlive it. Errors: not_found with the
/// nearest name; invalid when the trace has no such column.
[[nodiscard]] Result<Estimator> make_estimator(std::string_view spec, const Trace& trace,
                                               std::uint64_t seed);

}  // namespace schedmate
