// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The order in which Slurm has the jobs now, and where a submission would come in it: its
/// priorities as they are, apart from what waiting adds. Jobs of a higher tier of partitions come
/// before all of a lower one.

#include <map>
#include <optional>
#include <schedmate/policy.hpp>
#include <string>
#include <vector>

#include "slurm/queue.hpp"

namespace schedmate::slurm {

class Ranks {
 public:
  /// Of a queue without jobs.
  Ranks() = default;
  /// Nothing of `queue` is looked at later.
  explicit Ranks(const ClusterQueue& queue);

  [[nodiscard]] std::int64_t tier_of(const std::vector<std::string>& partitions) const;
  /// Of a job that waits or runs; nothing where Slurm has not said (it is held).
  [[nodiscard]] std::optional<Rank> of(const QueuedJob& job) const;
  /// Of a job just submitted, by those of its user that wait or run now; of a user without any as
  /// of the user in the middle. Nothing where no job has a priority.
  struct Submitted {
    std::string user, partition;
    std::int64_t gpus = 1;
  };
  [[nodiscard]] std::optional<Rank> of(const Submitted& job) const;

  /// How much counts of what was used then.
  [[nodiscard]] double kept_since(SimTime then) const;

 private:
  [[nodiscard]] double age_weight(const QueuedJob& job) const;
  [[nodiscard]] double size_weight(std::int64_t gpus) const;

  SimTime now_;
  double age_ = 0, size_ = 0;  // weights
  bool small_first_ = false;
  Seconds max_age_{1}, half_life_{0};
  bool by_submission_ = false;  // priority/basic: who comes later goes later
  double gpus_ = 0;             // of the cluster
  std::map<std::string, std::int64_t, std::less<>> tiers_;
  /// Without what age and size add.
  std::map<std::string, double, std::less<>> of_user_;
  std::optional<double> of_others_;
};

}  // namespace schedmate::slurm
