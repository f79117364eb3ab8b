// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What this process remembers besides the loop's state, bounded.

#include <cstdint>
#include <deque>
#include <map>
#include <schedmate/time.hpp>
#include <string>
#include <unordered_map>
#include <vector>

#include "live/loop.hpp"

namespace schedmate::daemon {

/// Use and queue over the last day of the cluster's clock, every five minutes of it at most.
class ClusterHistory {
 public:
  struct Sample {
    SimTime when;
    std::int64_t gpus_used = 0;  ///< at most all: a GPU that jobs share counts once for each
    std::int64_t gpus = 0;       ///< of nodes in service
    std::int64_t waiting = 0;    ///< jobs
  };
  /// After a reading.
  void note(const live::Loop& loop, SimTime now);
  [[nodiscard]] const std::deque<Sample>& samples() const { return samples_; }

 private:
  std::deque<Sample> samples_;
};

/// What is told of a job.
inline constexpr std::size_t most_actions_of_job = 10;

/// The last actions about each job.
class JobActions {
 public:
  void note(const std::string& job, std::int64_t action);
  [[nodiscard]] std::vector<std::int64_t> of(const std::string& job) const;
  /// Of those that the cluster still shows.
  void keep(const live::Jobs& jobs);

 private:
  std::unordered_map<std::string, std::vector<std::int64_t>> actions_;
};

}  // namespace schedmate::daemon
