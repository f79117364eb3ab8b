// SPDX-License-Identifier: Apache-2.0
#pragma once

/// How good past advice was.

#include <schedmate/store.hpp>
#include <string>
#include <vector>

namespace schedmate::advisor {

/// How one advice came out.
struct AdviceScore {
  bool inside = false;                       ///< the job ended within p10 .. p90
  bool within_100 = false;                   ///< |p50 - actual| <= actual
  FractionalSeconds p10{0}, p50{0}, p90{0};  ///< that are scored
  double log_ratio = 0;  ///< log(p50 / actual): above 0 where the advice was too long
  std::optional<bool> over_limit = std::nullopt;  ///< the suggested time limit would have killed it
};
/// Nothing when the job was told no length, has not ended, or did not complete.
[[nodiscard]] std::optional<AdviceScore> score_advice(const JobRecord& record);

struct Calibration {
  std::string who;  ///< a user, or "" for all
  std::size_t jobs = 0;
  double inside_share = 0;      ///< should be 0.8
  double within_100_share = 0;  ///< relative error of p50 up to 100 %
  double bias = 0;              ///< p50 / actual, geometric mean
  std::size_t limits = 0;       ///< jobs for which a time limit was suggested
  double over_limit_share = 0;  ///< of them: would have been killed by it
};

/// All first, then users by number of jobs. Errors: those of the store.
[[nodiscard]] Result<std::vector<Calibration>> calibrate(Store& store);

}  // namespace schedmate::advisor
