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

/// After reach_cluster() all of it is for the connector's thread, but for `wall`, `script`, `steps`
/// and what stands from `host` on.
struct Cluster {
  std::unique_ptr<Connector> connector{};
  Abilities abilities{};
  SimTime now{};  ///< when it was reached
  /// On to what happens next, but not beyond `to`: where time waits for whoever asks. Null: it goes
  /// on by itself.
  std::function<Result<ClusterTime>(SimTime to)> advance{};
  /// Its time, where a clock tells that; null: only a reading does.
  std::function<SimTime()> wall{};
  /// What was submitted, of a job whose command the cluster does not tell; waits for its turn, and
  /// is for another thread than the connector's. Null: it keeps none.
  std::function<Result<std::string>(const SeenJob& job)> script{};
  /// How the steps of a job that has ended did so; as `script`. While `others_wait` it waits for
  /// nothing that comes late.
  std::function<Result<std::vector<SeenStep>>(const SeenJob& job,
                                              const std::function<bool()>& others_wait)>
      steps{};
  /// Told of each job that the journal knows: what the cluster may have forgotten.
  std::function<void(const SeenJob& job)> remember{};
  /// By which it starts jobs itself, so that its queue can be replayed forward; nothing: it does
  /// not.
  std::optional<Scheduler> host{};
  std::vector<std::string> notes{};    ///< how it is reached, for the log
  std::vector<std::string> lacks{};    ///< what is not as it was meant to be
  bool truncates_logs = false;         ///< of jobs that it starts again
  bool ends_when_clear = false;        ///< live::LoopOptions::ends_when_clear
  std::optional<std::int64_t> span{};  ///< what order.span = "auto" is here
  Seconds half_life{0};                ///< of what counts as used in its priorities; 0: all does
};

/// Errors: those of its first answers; unavailable where there is none.
[[nodiscard]] Result<Cluster> reach_cluster(const Configuration& configuration, const Clock& clock,
                                            const std::string& user);

/// An end waits for one.
inline constexpr Connector::Deadline call_deadline{4000};
/// Of what is asked only to explain a failure, while its job waits for that.
inline constexpr Connector::Deadline steps_deadline{2000};
/// Tests are several requests, and wait for a job to start.
inline constexpr Connector::Deadline test_deadline{15'000};
[[nodiscard]] inline Connector::Deadline deadline_of(const ActionCall& call) {
  return call.kind == ActionKind::test_nodes ? test_deadline : call_deadline;
}

}  // namespace schedmate::daemon
