// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The seam of every scheduling policy. A driver (simulator or live service) calls a
/// `Policy` whenever something happened in one virtual cluster; the policy looks at the `View` and
/// writes its decisions into the `Plan` (docs/decisions/0003). It never learns which driver calls
/// it, does no I/O, reads no clock and no true duration. State lives inside the function object:
/// copying a policy copies its state, and equal inputs give equal plans. Calls are cheap when
/// little changed: the view says what is new, so a policy keeps its own order of the queue and
/// never scans all jobs. One thread at a time calls a policy.

#include <functional>
#include <optional>
#include <schedmate/cluster.hpp>
#include <schedmate/job.hpp>
#include <schedmate/node_set.hpp>
#include <schedmate/run_time.hpp>
#include <schedmate/time.hpp>
#include <span>
#include <string_view>
#include <vector>

namespace schedmate {

/// What another scheduler has made of a job before a driver begins in the middle.
struct Rank {
  /// The higher, the earlier; JobInfo::order left out; of one that runs of no account.
  double priority = 0;
  SimTime when;   ///< as of then
  SimTime since;  ///< it has waited, and gains by waiting on; may be later than `when`
  /// By ended jobs of its user, as of `when`; what is long ago counts less, as the site has it.
  double used_gpu_s = 0;
};

/// What a scheduler may know about a job. The true duration is not in here.
struct JobInfo {
  std::string_view id;
  /// The driver's number of the user.
  std::uint32_t user = 0;
  /// The whole gang: a job runs on all of them or not at all.
  std::int32_t gpus = 0;
  /// As the user sees it; and when it joined this VC's queue, which is later after profiling.
  SimTime submit;
  SimTime entered;
  /// Predicted run time alone on its GPUs, fixed on entry (estimator.hpp).
  FractionalSeconds estimate{0};
  /// The same, where advice is kept apart from it (advise=order).
  FractionalSeconds expected{0};
  /// Around the estimate; empty: nobody knows how far off it may be.
  std::optional<RunTimeDistribution> distribution{};
  /// How much of the estimate is advice, 0 to 1.
  double advised = 0;
  /// Measured or predicted GPU use, or null.
  const Profile* profile = nullptr;
  /// Nodes on which it may start, or null: on all (Scheduler::heeds_nodes).
  const NodeSet* nodes = nullptr;
  std::optional<Rank> rank{};
  /// Set from outside, while it waits: more goes first, 0 is neutral. It comes before the policy's
  /// own order, or is added to its priority (Scheduler::heeds_order).
  std::int64_t order = 0;
  /// Start of the present run, when running.
  SimTime run_since;
  /// Run time of earlier runs, and run time that preemptions have added so far.
  Seconds attained{0};
  Seconds overhead{0};
  bool running = false;
  /// Shares GPUs now, or is still treated so.
  bool sharing = false;
  /// Evicted, or its memory did not fit: never to share again.
  bool alone = false;
  /// `profile` was measured on a GPU, not predicted.
  bool profiled = false;
  /// Speed relative to running alone since `speed_since`, as its log shows it (paper 3.2, Metric
  /// Tracker); empty when the log does not show it.
  std::optional<double> speed{};
  SimTime speed_since;

  /// Run time so far, in all runs.
  [[nodiscard]] Seconds run_time(SimTime now) const {
    return attained + (running ? now - run_since : Seconds(0));
  }
  /// The speed, once the log has shown it for at least `least`.
  [[nodiscard]] std::optional<double> seen_speed(SimTime now, Seconds least) const {
    return running && now - speed_since >= least ? speed : std::nullopt;
  }
  /// Estimated run time still needed, preemption overhead included; negative when overdue.
  [[nodiscard]] FractionalSeconds remaining(SimTime now) const {
    return estimate + FractionalSeconds(overhead) - FractionalSeconds(run_time(now));
  }
};

/// Run time that a preemption adds to a job (checkpoint, restart), as released with Lucid.
struct PreemptionCost {
  Seconds small{40};  ///< up to 8 GPUs
  Seconds large{60};
  [[nodiscard]] Seconds of(int gpus) const { return gpus <= 8 ? small : large; }
};

/// Whether limits that jobs share leave this one room, beside what runs and what the plan has
/// started so far.
using HasRoom = std::function<bool(JobId)>;

/// The state of one virtual cluster at one instant. Spans are valid during the call only. Jobs that
/// lost a node have ended, as far as a policy knows; their next attempt arrives as another job.
struct View {
  SimTime now;
  std::span<const JobId> arrived;  ///< entered the queue since the last call, in order of entry
  std::span<const JobId> ended;    ///< finished since the last call, by end, then start
  const JobMap<JobInfo>& jobs;     ///< that wait, run, or are in `ended` or `withdrawn`
  const Cluster& cluster;          ///< as it is now; the plan's decisions show in it at once
  PreemptionCost preemption;
  std::span<const std::uint32_t> nodes{};  ///< came, went or changed state since the last call
  /// Left the queue without a start since the last call; in no `jobs` after this one.
  std::span<const JobId> withdrawn{};
  /// Wait, and their `order` has changed since the last call or since they arrived.
  std::span<const JobId> reordered{};
  /// Run already when the policy is called for the first time, started by somebody else (a driver
  /// that begins in the middle); in order of their starts, empty in every later call.
  std::span<const JobId> adopted{};
  /// Share GPUs, and their log has shown their speed since the last call. A replay tells speeds at
  /// once, and nobody here.
  std::span<const JobId> tracked{};
  const HasRoom* has_room = nullptr;  ///< null: no limits (Scheduler::heeds_limits)

  [[nodiscard]] bool may_start(JobId id) const { return has_room == nullptr || (*has_room)(id); }
  [[nodiscard]] const JobInfo& job(JobId id) const { return jobs.at(id); }
};

/// Decisions, each carried out on the View's cluster as it is written, so that the next question
/// ("does this one still fit?") sees it. A job's state in View::jobs changes after the call.
class Plan {
 public:
  /// What the driver then does, in this order.
  struct Decision {
    enum class Kind : std::uint8_t { start, preempt, evict } kind;
    JobId job;
    bool shares = false;  ///< started on GPUs that others hold
    Placement left{};     ///< taken off these GPUs
  };

  Plan(Cluster& cluster, SimTime now) : cluster_(cluster), now_(now) {}

  /// Starts a queued job if its whole gang can be placed now. False: nothing changed.
  bool start(JobId job, int gpus);
  /// Starts a queued job on exactly these GPUs, which may hold others.
  void start_on(JobId job, Placement where);
  /// Starts a queued job on all the GPUs of a running one.
  void start_with(JobId job, JobId resident);
  /// Takes a running job off its GPUs; it goes back to the queue with its progress.
  void preempt(JobId job);
  /// Takes a running job off its GPUs without a checkpoint; it goes back to the queue and will
  /// restart (paper 4.1, packing cancellation).
  void evict(JobId job);
  /// Asks to be called at `when` even if nothing happens; the earliest wish counts, until the next
  /// call.
  void wake_at(SimTime when);
  /// Adds an empty node, or removes an idle one (elastic partitions).
  std::uint32_t add_node(std::uint32_t label);
  void remove_node(std::uint32_t node);

  [[nodiscard]] std::span<const Decision> decisions() const { return decisions_; }
  [[nodiscard]] std::span<const std::pair<SimTime, int>> node_changes() const {
    return node_changes_;
  }
  [[nodiscard]] SimTime wake() const { return wake_; }
  void clear(SimTime now);

 private:
  Cluster& cluster_;
  SimTime now_;
  SimTime wake_ = never;
  std::vector<Decision> decisions_;
  std::vector<std::pair<SimTime, int>> node_changes_;
  Placement scratch_;
};

/// Rows of src/policy/policies.def make them (scheduler.hpp).
using Policy = std::function<void(const View&, Plan&)>;

}  // namespace schedmate
