// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Gittins' index of a job whose run time is known up to a factor: its logarithm is normal around
/// that of the estimate. The rank is the least that the job may still cost for each end that this
/// buys: min over d of E[min(X - a, d)] / P(X - a <= d), given that X > a. The smaller, the
/// earlier. A job that outlives its estimate ranks as if it had the more left the longer it has
/// run.

#include <vector>

namespace schedmate::policy {

class GittinsTable {
 public:
  /// `spread`: standard deviation of the logarithm of the factor; 0.1 to 5.
  explicit GittinsTable(double spread);
  /// The rank in seconds, of a job that was expected to run for `estimate_s` and has run `run_s`.
  [[nodiscard]] double rank(double estimate_s, double run_s) const;

 private:
  std::vector<double> multiples_;  // run times in units of the estimate, ascending
  std::vector<double> ranks_;      // at those multiples
};

}  // namespace schedmate::policy
