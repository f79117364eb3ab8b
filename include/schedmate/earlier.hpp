// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What would make a waiting job start earlier: each answer is the same queue replayed with the
/// same draws, but for one change to that job (docs/eta.md). Values in, values out.

#include <schedmate/eta.hpp>

namespace schedmate {

enum class JobChange : std::uint8_t {
  gpus,     ///< it asks for fewer
  limit,    ///< a shorter time limit
  pool,     ///< it waits in another pool
  release,  ///< nothing keeps it out, and it may start at once
};
[[nodiscard]] std::string_view name_of(JobChange change);

/// What its owner may change beside the number of GPUs and the time limit.
struct MayChange {
  /// Pools that take it, too.
  std::vector<std::uint32_t> pools{};
  /// Of each of these pools, as of SnapshotJob::nodes; empty: all nodes of all.
  std::vector<std::shared_ptr<const NodeSet>> nodes{};
  /// With a limit of at most this it need not wait for SnapshotJob::eligible.
  std::optional<Seconds> limit_to_start_now{};
  /// SnapshotJob::kept_out and SnapshotJob::eligible are its owner's own doing.
  bool release = false;
};

struct WaitingJob {
  std::size_t job = 0;  ///< index into QueueSnapshot::jobs
  MayChange may_change{};
};

struct Earlier {
  JobChange change = JobChange::gpus;
  SnapshotJob job;  ///< as it would be
  /// Medians of its start; `before` may be `never`.
  SimTime before = never;
  SimTime after = never;
  /// Of the samples, taken in pairs, those in which it starts earlier.
  double share = 0;
  /// Of the run times that it may have, those that its limit does not cut off.
  double covers = 1;
};

/// The changes that start it clearly earlier: in most samples, and at the median by more than a
/// minute and a tenth of its wait. The earliest first; of one kind the mildest change that gives as
/// much. Tried are half and a quarter of its GPUs, as many as are free now, one node less; where
/// the policy plans with limits, a limit that covers 99 % or 90 % of its run times; and what
/// WaitingJob::may_change says. Errors: invalid (it does not wait); those of forecast_queue().
[[nodiscard]] Result<std::vector<Earlier>> what_starts_earlier(const QueueSnapshot& snapshot,
                                                               const Scheduler& scheduler,
                                                               const EtaOptions& options,
                                                               const WaitingJob& waiting);

}  // namespace schedmate
