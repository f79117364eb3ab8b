// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The cluster that the daemon runs beside, and whose time it is there.

#include <functional>
#include <memory>
#include <optional>
#include <schedmate/clock.hpp>
#include <schedmate/connector.hpp>
#include <schedmate/scheduler.hpp>
#include <string>
#include <vector>

#include "daemon/configuration.hpp"

namespace schedmate::daemon {

struct ClusterTime {
  SimTime now, next;  ///< when something happens by itself; `never`: nothing does any more
};

/// After reach_cluster() all of it is for the connector's thread, but for `wall`, `host` and
/// `span`.
struct Cluster {
  std::unique_ptr<Connector> connector{};
  Abilities abilities{};
  SimTime now{};  ///< when it was reached
  /// On to what happens next, but not beyond `to`: where time waits for whoever asks. Null: it goes
  /// on by itself.
  std::function<Result<ClusterTime>(SimTime to)> advance{};
  /// Its time, where a clock tells that; null: only a reading does.
  std::function<SimTime()> wall{};
  /// Told of each job that the journal knows: what the cluster may have forgotten.
  std::function<void(const SeenJob& job)> remember{};
  /// By which it starts jobs itself, so that its queue can be replayed forward; nothing: it does
  /// not.
  std::optional<Scheduler> host{};
  std::optional<std::int64_t> span{};  ///< what order.span = "auto" is here
};

/// Errors: those of its first answers; unavailable where there is none.
[[nodiscard]] Result<Cluster> reach_cluster(const Configuration& configuration, const Clock& clock,
                                            const std::string& user);

/// An end waits for one.
inline constexpr Connector::Deadline call_deadline{4000};

}  // namespace schedmate::daemon
