// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Run times that have been seen, for jobs of which nothing else is known.

#include <map>
#include <memory>
#include <schedmate/eta.hpp>
#include <vector>

namespace schedmate::eta {

class RunTimePast {
 public:
  struct Run {
    std::uint32_t user = 0;
    std::int32_t gpus = 0;
    SimTime start;
    double run_time_s = 0;  ///< so far, of one that runs still
    bool ended = true;
  };
  /// In any order.
  void add(const Run& run);

  /// Of everybody; null before the first.
  [[nodiscard]] std::shared_ptr<const PastRunTimes> site();
  /// Of a user: those that started last count most, those with as many GPUs more than others.
  [[nodiscard]] RunTimeBelief belief(std::uint32_t user, std::int32_t gpus);

 private:
  std::map<std::uint32_t, std::vector<Run>> by_user_;
  std::vector<PastRunTimes::Past> all_;
  std::shared_ptr<const PastRunTimes> site_;
  std::map<std::pair<std::uint32_t, std::int32_t>, std::shared_ptr<const PastRunTimes>> own_;
};

}  // namespace schedmate::eta
