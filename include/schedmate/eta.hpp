// SPDX-License-Identifier: Apache-2.0
#pragma once

/// When waiting jobs start and running ones end: the queue as it stands at one instant, replayed
/// forward many times under the site's policy, with run times and future submissions drawn from the
/// past (docs/eta.md). Values in, values out: nothing here reads a file or a clock. Times are on
/// the snapshot's clock. A forecast may be made from several threads at once.

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <schedmate/cluster.hpp>
#include <schedmate/node_set.hpp>
#include <schedmate/result.hpp>
#include <schedmate/run_time_curve.hpp>
#include <schedmate/scheduler.hpp>
#include <schedmate/time.hpp>
#include <string>
#include <vector>

namespace schedmate {

/// Where a run time comes from: the job's own log, what the Advisor said of it, whose past.
enum class RunTimeSource : std::uint8_t { progress, advisor, user, site };
[[nodiscard]] std::string_view name_of(RunTimeSource source);

/// A job that waits or runs.
struct SnapshotJob {
  std::string id;
  /// Any number that its user has and nobody else.
  std::uint32_t user = 0;
  /// Index into QueueSnapshot::pools.
  std::uint32_t pool = 0;
  /// In all; at least 1.
  std::int32_t gpus = 1;
  /// Where it stands in the order of submission, as a policy sees it.
  SimTime submit;
  /// When it was submitted; nothing: at `submit`.
  std::optional<SimTime> waits_since{};
  /// Running since then; nothing while it waits.
  std::optional<SimTime> started{};
  /// GPUs that it holds, by node of its pool; empty: the policy's placer finds some.
  Placement where{};
  /// Waiting: it does not compete before; nothing: from now on.
  std::optional<SimTime> eligible{};
  /// Waiting: something other than the queue keeps it (held, a limit of its account): it starts
  /// never, as far as the queue can tell, and is in nobody's way.
  bool kept_out = false;
  /// It ends or is killed by then; nothing: no limit.
  std::optional<Seconds> limit{};
  /// What the scheduler takes its run time to be.
  FractionalSeconds planned{0};
  RunTimeBelief belief{};
  RunTimeSource source = RunTimeSource::site;
  /// Equal for jobs that were submitted as one: their run times are drawn alike.
  std::uint32_t burst = 0;
  /// That it counts against, by index into QueueSnapshot::limits.
  std::vector<std::uint32_t> limits{};
  /// Of its pool, where a policy that heeds nodes may start it; nothing: on all.
  std::shared_ptr<const NodeSet> nodes{};
  /// What the site's scheduler makes of it now; a policy with priorities goes on from there.
  std::optional<Rank> rank{};
  /// JobInfo::order.
  std::int64_t order = 0;
};

/// No more at a time of those who share it. A waiting job at such a limit is passed over: the
/// policy is told of it once there is room beside those that run and those told of before it.
struct SharedLimit {
  std::string name;
  std::optional<std::int64_t> gpus{}, jobs{};  ///< nothing: no limit
};

/// A submission of the past. Those of a day may come again.
struct PastSubmission {
  SimTime submit;
  std::uint32_t user = 0;
  std::uint32_t pool = 0;
  std::int32_t gpus = 1;
  /// Whole, or so far if it has not ended.
  double ran_s = 0;
  bool ended = true;
  FractionalSeconds planned{0};
  /// As of SnapshotJob.
  std::shared_ptr<const NodeSet> nodes{};
  /// As of SnapshotJob::rank, if it were submitted now; nothing: nobody has said.
  std::optional<Rank> rank{};
};

/// A node of a pool that is, or will be, in another state.
struct NodeChange {
  SimTime when;
  std::uint32_t pool = 0;
  std::uint32_t node = 0;
  NodeState state = NodeState::up;
};

/// A node that is drained by QueueSnapshot::changes, and nobody says until when. In each sample it
/// comes back after a time of its own, drawn by Pareto's law: at the median after as long again as
/// since then, or an hour if that is longer.
struct NodeOutage {
  std::uint32_t pool = 0;
  std::uint32_t node = 0;
  SimTime since;
};

struct QueueSnapshot {
  SimTime now;
  std::vector<PartitionSpec> pools;
  /// In order of time; those up to `now` have happened. A node that goes down is drained here: it
  /// takes no job, and what runs there ends by itself.
  std::vector<NodeChange> changes;
  std::vector<NodeOutage> outages{};
  /// In order of submission.
  std::vector<SnapshotJob> jobs;
  /// Pools are replayed apart: in each, what runs in the others now counts throughout.
  std::vector<SharedLimit> limits{};
  /// The last days, oldest first. Only whole days before `now` come again; without any nobody will
  /// submit anything.
  std::vector<PastSubmission> past;
  /// Runs reach their limits and are killed; else the owners know that they end before.
  bool limits_kill = true;
  /// Run times of everybody, for submissions of the past that have not ended.
  std::shared_ptr<const RunTimeCurve> site{};
};

struct EtaOptions {
  std::int64_t samples = 200;  ///< at most; fewer where the quantiles stand still
  std::uint64_t seed = 1;
  int threads = 1;
  /// Events within this share of the time ahead are replayed as one; 0: each at its instant.
  double resolution = 0.03;
  /// What does not start, or end, by then counts as never.
  Seconds horizon{60 * 86'400};
};

/// What InstantQuantiles holds, in its order.
inline constexpr std::array quantile_shares{0.1, 0.25, 0.5, 0.75, 0.9};

/// Of a distribution of instants; `never` where it lies beyond the horizon.
struct InstantQuantiles {
  SimTime p10, p25, p50, p75, p90;
};
/// Its members in the order of quantile_shares.
inline constexpr std::array instants_of_shares{&InstantQuantiles::p10, &InstantQuantiles::p25,
                                               &InstantQuantiles::p50, &InstantQuantiles::p75,
                                               &InstantQuantiles::p90};

/// Why a job does not run now, as far as the queue shows it.
enum class QueueBlock : std::uint8_t {
  none,           ///< it runs, or starts now
  gpus,           ///< too few GPUs are free
  fragmentation,  ///< enough are free, but not together
  priority,       ///< it would fit, others go before it
  too_large,      ///< its pool has too few GPUs
  too_early,      ///< it may not start yet
  shared_limit,   ///< it is at a limit that it shares
  kept_out,       ///< something other than the queue keeps it
};
[[nodiscard]] std::string_view name_of(QueueBlock block);

struct JobForecast {
  std::optional<InstantQuantiles> start;  ///< of a waiting job
  InstantQuantiles end;
  QueueBlock block = QueueBlock::none;
  /// Of block shared_limit: which one, by index into QueueSnapshot::limits.
  std::optional<std::uint32_t> limit;
  /// Running jobs whose end gives it its GPUs most often, by index into QueueSnapshot::jobs.
  struct Awaited {
    std::size_t job = 0;
    double share = 0;  ///< of the samples
  };
  std::vector<Awaited> awaited;
  /// Seconds from now to its start by sample, infinite = never: of jobs of one pool the n-th of
  /// each are from the same replay.
  std::vector<double> waits_s;
};

struct QueueForecast {
  std::int64_t samples = 0;
  std::vector<JobForecast> jobs;  ///< parallel to QueueSnapshot::jobs
};

/// Equal inputs give equal forecasts, on one thread or many. Jobs that share GPUs are taken to run
/// as fast as alone. Errors: invalid for a snapshot that contradicts itself (a job in no pool, more
/// jobs on a GPU than can share it, a start after `now`).
[[nodiscard]] Result<QueueForecast> forecast_queue(const QueueSnapshot& snapshot,
                                                   const Scheduler& scheduler,
                                                   const EtaOptions& options);

}  // namespace schedmate
