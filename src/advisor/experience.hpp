// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What the history teaches about advice itself: how far off it was, and whose jobs outlast theirs.

#include <map>
#include <schedmate/advice.hpp>
#include <schedmate/history.hpp>
#include <string>
#include <vector>

namespace schedmate {

/// How far back it is looked.
namespace experience {
inline constexpr std::size_t own_errors = 200;
inline constexpr std::size_t all_errors = 200;
inline constexpr std::size_t latest_jobs = 40;  ///< of a user
}  // namespace experience

/// A job that has ended as accounting says, as an estimate sees it.
[[nodiscard]] std::optional<PastRun> past_run(const JobRecord& record);

/// log(actual / p50) of the advice that the job got; nothing when it got none or has not ended.
[[nodiscard]] std::optional<Residual> residual_of(const JobRecord& record);

/// The latest errors, those of the user and those of everybody, newest first.
[[nodiscard]] Result<std::vector<Residual>> recent_residuals(Store& store, const std::string& user);

/// The user's latest jobs that have ended, newest first; those with as many GPUs alone, when there
/// are some.
[[nodiscard]] Result<std::vector<PastRun>> latest_runs(Store& store, const std::string& user,
                                                       std::int64_t gpus);

/// Trust in a user of whose `jobs` that had advice so many outlasted its 90 % mark.
[[nodiscard]] double trust_after(std::size_t overruns, std::size_t jobs);

/// 1 for users whose jobs outlast the 90 % mark of their advice as often as they should (one in
/// ten) or less, down to 0.1. Users without a past have 1.
class Trust {
 public:
  explicit Trust(Store& store) : store_(store) {}
  [[nodiscard]] Result<double> of(const std::string& user);

 private:
  Store& store_;
  std::map<std::string, double> known_;
};

}  // namespace schedmate
