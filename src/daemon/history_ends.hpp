// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace schedmate::daemon {

/// Ends of jobs: what became of them in the history.
struct HistoryEnds {
  std::uint64_t kept = 0, refused = 0, dropped = 0;
  /// Not taken yet: in memory, and on the disk while the history is away. Of too many the oldest
  /// are dropped.
  std::uint64_t waiting = 0;
};

}  // namespace schedmate::daemon
