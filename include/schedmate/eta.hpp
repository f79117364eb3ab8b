// SPDX-License-Identifier: Apache-2.0
#pragma once

/// When waiting jobs start and running ones end: the queue as it stands at one instant, replayed
/// forward many times under the site's policy, with run times and future submissions drawn from the
/// past (docs/eta.md). Values in, values out: nothing here reads a file or a clock. Times are on
/// the snapshot's clock. A forecast may be made from several threads at once.

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <schedmate/cluster.hpp>
#include <schedmate/result.hpp>
#include <schedmate/scheduler.hpp>
#include <schedmate/time.hpp>
#include <string>
#include <vector>

namespace schedmate {

/// Past run times, each with a weight, for drawing one that is yet to come.
class PastRunTimes {
 public:
  struct Past {
    double seconds = 0;
    double weight = 1;
    bool ended = true;  ///< else it runs still: a lower bound
  };
  PastRunTimes() = default;
  /// The weight of a lower bound goes to all that are longer (Kaplan-Meier's estimate, by Efron's
  /// redistribution to the right); where there are none, to Pareto's law.
  explicit PastRunTimes(std::vector<Past> runs);

  [[nodiscard]] bool empty() const { return runs_.empty(); }
  [[nodiscard]] double weight() const { return beyond_.empty() ? 0 : beyond_.front(); }
  /// Weight of those that took longer.
  [[nodiscard]] double weight_beyond(double seconds) const;
  /// The longest of those that all, or all but a weight of `left`, of the weight is up to.
  [[nodiscard]] double with_left(double left) const;

 private:
  std::vector<double> runs_;    // shortest first
  std::vector<double> beyond_;  // weight of this one and all longer ones
};

/// What is known of a job's run time: what its own past says, as far as there is any, and what
/// everybody's says for the rest.
struct RunTimeBelief {
  std::shared_ptr<const PastRunTimes> own;
  std::shared_ptr<const PastRunTimes> site;
  /// All of `site` counts as much as this weight of `own`.
  double site_weight = 5;

  /// The run time at `share` (0 to 1) of what is believed of a job that ran `ran` seconds already
  /// and runs no longer than `most`. Where nobody has seen such a run it lasts by Pareto's law, as
  /// long again at the median, or ends anywhere before `most`.
  [[nodiscard]] double draw(double share, double ran,
                            double most = std::numeric_limits<double>::infinity()) const;
};

/// Whose past a run time comes from.
enum class RunTimeSource : std::uint8_t { advisor, user, site, limit };
[[nodiscard]] std::string_view name_of(RunTimeSource source);

struct SnapshotJob {
  std::string id;
  std::uint32_t user = 0;
  /// Index into QueueSnapshot::pools.
  std::uint32_t pool = 0;
  std::int32_t gpus = 1;
  SimTime submit;
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
  RunTimeBelief belief;
  RunTimeSource source = RunTimeSource::site;
};

/// A submission of the past. Those of a day may come again.
struct PastSubmission {
  SimTime submit;
  std::uint32_t user = 0;
  std::uint32_t pool = 0;
  std::int32_t gpus = 1;
  /// Whole, or so far if it has not ended.
  double run_time_s = 0;
  bool ended = true;
  FractionalSeconds planned{0};
};

/// A node of a pool that is, or will be, in another state.
struct NodeChange {
  SimTime when;
  std::uint32_t pool = 0;
  std::uint32_t node = 0;
  NodeState state = NodeState::up;
};

struct QueueSnapshot {
  SimTime now;
  std::vector<PartitionSpec> pools;
  /// In order of time; those up to `now` have happened. A node that goes down is drained here: it
  /// takes no job, and what runs there ends by itself.
  std::vector<NodeChange> changes;
  /// In order of submission.
  std::vector<SnapshotJob> jobs;
  /// The last days, oldest first; empty: nobody will submit anything.
  std::vector<PastSubmission> past;
  /// Runs reach their limits and are killed; else the owners know that they end before.
  bool limits_kill = true;
  /// Run times of everybody.
  std::shared_ptr<const PastRunTimes> site;
};

struct EtaOptions {
  std::int64_t samples = 200;  ///< at most; fewer where the quantiles stand still
  std::uint64_t seed = 1;
  int threads = 1;
  /// What does not start by then counts as never.
  Seconds horizon{60 * 86'400};
};

/// Of a distribution of instants; `never` where it lies beyond the horizon.
struct InstantQuantiles {
  SimTime p10, p50, p90;
};

/// Why a job does not run now, as far as the queue shows it.
enum class QueueBlock : std::uint8_t {
  none,           ///< it runs, or starts now
  gpus,           ///< too few GPUs are free
  fragmentation,  ///< enough are free, but not together
  priority,       ///< it would fit, others go before it
  too_large,      ///< its pool has too few GPUs
  too_early,      ///< it may not start yet
  kept_out,       ///< something other than the queue keeps it
};
[[nodiscard]] std::string_view name_of(QueueBlock block);

struct JobForecast {
  std::optional<InstantQuantiles> start;  ///< of a waiting job
  InstantQuantiles end;
  QueueBlock block = QueueBlock::none;
  /// Running jobs whose end gives it its GPUs most often, by index into QueueSnapshot::jobs.
  struct Awaited {
    std::size_t job = 0;
    double share = 0;  ///< of the samples
  };
  std::vector<Awaited> awaited;
  /// Seconds from now to its start, one a sample, for callers that calibrate; infinite = never.
  std::vector<double> waits_s;
};

struct QueueForecast {
  std::int64_t samples = 0;
  std::vector<JobForecast> jobs;  ///< parallel to QueueSnapshot::jobs
};

/// Equal inputs give equal forecasts, on one thread or many. Jobs that share GPUs are taken to run
/// as fast as alone. Errors: invalid for a snapshot that contradicts itself (a job in no pool, two
/// on one GPU, a start after `now`).
[[nodiscard]] Result<QueueForecast> forecast_queue(const QueueSnapshot& snapshot,
                                                   const Scheduler& scheduler,
                                                   const EtaOptions& options);

}  // namespace schedmate
