// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What reaches the daemon's thread.

#include <memory>
#include <variant>
#include <vector>

#include "daemon/cluster.hpp"
#include "daemon/forecasts.hpp"
#include "daemon/probe_desk.hpp"
#include "http/server.hpp"
#include "live/events.hpp"

namespace schedmate::daemon {

/// Somebody at the front door.
struct Visit {
  http::Request request;
  std::shared_ptr<http::Answer> answer;
};
struct Reported {
  ProbeMessage message;
  std::shared_ptr<http::Answer> answer;
};
struct Foreseen {
  Result<Forecast> forecast;
};
struct Advanced {
  Result<ClusterTime> time;
};
struct Learned {
  std::uint64_t loop;  ///< which one asked
  live::Studied studied;
};
struct PastRead {
  std::uint64_t loop;         ///< which one it is for
  std::vector<SeenJob> runs;  ///< of the history
};
/// Whether things are on record again.
struct Reopened {
  Result<void> result;
};
using Arrival =
    std::variant<live::Event, Visit, Reported, Advanced, Foreseen, Learned, PastRead, Reopened>;

}  // namespace schedmate::daemon
