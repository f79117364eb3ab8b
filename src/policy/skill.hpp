// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What advice has earned among the jobs that ended lately (docs/decisions/0012).

#include <array>
#include <deque>

namespace schedmate::policy {

/// How advice is judged: by what the estimates are for.
enum class AdviceGoal : bool {
  order,   ///< a queue: would the job have stood better among the others?
  length,  ///< plans: would the estimate have been nearer?
};

/// Log seconds of a job: as the host expected, as the advisor did, as it came out.
struct Expected {
  double host = 0, advised = 0, truth = 0;
  double log_gpus = 0;
};

/// The latest jobs that have ended.
class RecentJobs {
 public:
  void add(const Expected& job);
  /// How much better `blended` puts a job among the others, which stay where the host has them,
  /// than the host does, by GPU time: -1 to 1, pairs weighted by how far apart they came out.
  [[nodiscard]] double gain_of_order(const Expected& job, double blended) const;

 private:
  std::deque<Expected> jobs_;
};

/// One source of advice for one kind of job, taken by a quarter, half and in full.
class Skill {
 public:
  void add(const Expected& job, const RecentJobs& peers, AdviceGoal purpose);
  /// 0: as the host says; 1: as the advice says. What is proven to gain most, if it is worth it.
  [[nodiscard]] double weight(AdviceGoal purpose) const;

 private:
  struct Tally {
    double weight;
    double jobs = 0, gains = 0, squares = 0;
    void add(double gain);
    /// The lower end of the mean gain's interval.
    [[nodiscard]] double proven() const;
  };
  std::array<Tally, 3> tallies_{Tally{0.25}, Tally{0.5}, Tally{1}};
};

}  // namespace schedmate::policy
