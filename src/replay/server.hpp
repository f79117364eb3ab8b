// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A replay as a process of its own, which outlives the daemon beside it: what a daemon that was
/// killed had called is still there. Requests and answers are lines of JSON on a unix socket, one
/// client at a time.

#include <functional>
#include <schedmate/clock.hpp>
#include <string>

#include "replay/cluster.hpp"

namespace schedmate::replay {

struct ServeOptions {
  std::string socket{};    ///< its path
  std::string ledger{};    ///< file to which each call is appended with its outcome; "": none
  std::int64_t speed = 0;  ///< times as fast as real; 0: time goes on when the client says so
  Clock clock{};
  std::function<bool()> stopped{};  ///< asked at least every second
};

/// Until it is stopped. Errors: conflict (another process listens there), unavailable.
Result<void> serve(ReplayCluster& cluster, const ServeOptions& options);

}  // namespace schedmate::replay
