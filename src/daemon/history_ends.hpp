// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace schedmate::daemon {

/// Ends of jobs: what became of them in the history.
struct HistoryEnds {
  std::uint64_t kept = 0, refused = 0, dropped = 0;
  std::uint64_t waiting = 0;  ///< for a history that is away; the oldest are dropped of too many
};

}  // namespace schedmate::daemon
