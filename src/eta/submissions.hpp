// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What will be submitted after a snapshot: each coming day is one of the past, drawn whole, so
/// that bursts stay bursts; half of the draws take the same day of the week where there is one.

#include <schedmate/eta.hpp>
#include <span>
#include <vector>

#include "eta/pool_replay.hpp"

namespace schedmate::eta {

/// Those of one pool, in order of submission.
class PastDays {
 public:
  PastDays(const QueueSnapshot& snapshot, std::uint32_t pool);

  /// The submissions of one sample; this object outlives it.
  [[nodiscard]] PoolReplay::NextSubmission draw(std::uint64_t seed) const;

 private:
  SimTime now_;
  std::vector<PastSubmission> past_;
  RunTimeBelief site_;
  std::int64_t days_ = 0;
};

}  // namespace schedmate::eta
