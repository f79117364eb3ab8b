// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What a row of src/policy/policies.def makes: a policy and what it needs around it
/// (docs/policies.md). A policy that needs nothing but decisions sets `decide` alone. Values;
/// making one reads nothing and starts nothing.

#include <map>
#include <memory>
#include <optional>
#include <schedmate/estimator.hpp>
#include <schedmate/forecast.hpp>
#include <schedmate/policy.hpp>
#include <schedmate/result.hpp>
#include <schedmate/time.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace schedmate {

/// Defects of the released Lucid simulator, one switch each. Mode `reference` has
/// all on and reproduces it exactly; `repaired` (default) has all off. docs/decisions/0002.
struct Defects {
  bool survivor_keeps_rate = false;   ///< the older of a pair ends first: the younger stays slowed
  bool double_counted_queue = false;  ///< Lucid's queue_s counts the profiler's wait twice
  bool util_unit_slip = false;        ///< utilisation of a heavy pair capped at 1 instead of 100 %
  bool late_end = false;              ///< srtf, tiresias, lucid: every run ends one second late
  bool node_echo = false;             ///< vcYVn loses a node while the profiler has an extra one
  bool entry_at_submission = false;   ///< profiled jobs run in their VC while they are profiled
  bool unranked_arrivals = false;  ///< qssf: jobs that meet an empty queue are ranked a second late
  [[nodiscard]] static constexpr Defects reference() {
    return {true, true, true, true, true, true, true};
  }
};

/// key=value settings of one --policy; `take` marks a key as known.
class PolicyOptions {
 public:
  PolicyOptions() = default;
  /// As given after the policy's name.
  explicit PolicyOptions(std::map<std::string, std::string, std::less<>> values);
  /// "key=value,..." where the key was not given.
  void add_defaults(std::string_view list);
  /// Absent keys give the fallback. Errors: unsupported for a value of another kind.
  [[nodiscard]] Result<std::int64_t> take_integer(std::string_view key, std::int64_t fallback);
  [[nodiscard]] Result<double> take_number(std::string_view key, double fallback);
  [[nodiscard]] Result<bool> take_flag(std::string_view key, bool fallback);
  [[nodiscard]] std::string take_text(std::string_view key, std::string_view fallback);
  /// Error not_found naming the nearest known key when a given key was never taken.
  [[nodiscard]] Result<void> check_all_taken(std::string_view policy) const;

 private:
  std::map<std::string, std::string, std::less<>> values_;
  std::vector<std::string> known_;
};

/// What a factory may look at: what a driver has.
struct PolicyInput {
  const ClusterSpec& cluster;
  Defects defects{};
  std::uint64_t seed = 1;
  /// Of submissions, for lucid; null = unknown.
  std::shared_ptr<const Forecast> forecast{};
};

/// A stage in front of the virtual clusters that runs each small job for a short time to measure
/// it (Lucid 3.2). Jobs that finish within `time` are done; others go on to their VC.
struct ProfilerStage {
  Policy decide;                     ///< View::withdrawn: jobs that advice took from its queue
  Seconds time{200};                 ///< T_prof
  int max_gpus = 8;                  ///< larger jobs are not profiled
  PartitionSpec nodes;               ///< the profiler's own nodes
  bool grows = false;                ///< by one node at times (Plan::add_node)
  std::vector<std::string> lenders;  ///< VCs that give one node each, in turn
  /// Jobs whose GPU use is predicted go straight to their VC (paper 4.1): all of them; only those
  /// that are expected to outlast `time`, as the others end in the profiler; or all but those for
  /// which the profiler has free GPUs and the VC has none, as they would wait there.
  enum class Bypass : std::uint8_t { none, outlasting, all, free } bypass = Bypass::none;
  std::string echo_vc;  ///< VC that follows its scaling (Defects::node_echo), or ""
};

/// A policy with what a driver has to know of it.
struct Scheduler {
  /// Copied for each VC.
  Policy decide;
  /// Of estimators.def, when --policy gives no estimate=. A policy that uses none leaves it.
  std::string estimator = "oracle";
  /// Its decisions depend on estimates. Without, the estimator above is one nobody looks at.
  bool uses_estimates = true;
  /// Estimator that advises beside it (advice=); "" = none.
  std::string advice{};
  /// Estimator that no estimate exceeds (cap=), say `limit`; "" = none.
  std::string cap{};
  /// Advice counts as far as it has earned it (shrink=).
  bool shrink = true;
  /// It reserves on estimates, so that their length counts, not just their order.
  bool plans = false;
  /// It starts a job only on JobInfo::nodes; else a driver that sets these is not obeyed.
  bool heeds_nodes = false;
  /// Of the waiting jobs, it passes over those that View::may_start() refuses. Else a driver with
  /// limits that jobs share tells the policy of no more jobs than there is room for.
  bool heeds_limits = false;
  /// JobInfo::order comes before its own order, or counts in its priority; else nobody can say who
  /// goes first.
  bool heeds_order = false;
  /// The work that it expects of a waiting job, in seconds or GPU seconds: the less, the earlier it
  /// goes first. Null: its order is by something else.
  double (*expected_work)(const JobInfo& job) = nullptr;
  /// It preempts or shares: Defects::late_end applies.
  bool counts_down = false;
  /// Advice decides on the order alone (advise=order): plans still stand on the host's estimates,
  /// which may be limits that are never too short.
  bool advice_orders = false;
  /// The Failure Handler restarts what the infrastructure broke (handler=; paper 3.3).
  bool handler = false;
  /// It lets jobs share GPUs: it needs profiles, and outputs have their columns.
  bool packs = false;
  /// Empty: jobs go straight to their VC.
  std::optional<ProfilerStage> profiler;
};

/// One row of policies.def.
struct PolicyRow {
  std::string_view name;
  std::string_view summary;
  Result<Scheduler> (*make)(const PolicyInput& input, PolicyOptions& options);
  /// Settings of a variant, "key=value,...".
  std::string_view preset{};
};
[[nodiscard]] std::span<const PolicyRow> policy_rows();
/// Errors: not_found with the nearest row, or with the nearest key for an option that the row does
/// not know; those of its options.
[[nodiscard]] Result<Scheduler> make_scheduler(std::string_view name, const PolicyInput& input,
                                               PolicyOptions options);
[[nodiscard]] Result<Scheduler> make_scheduler(const PolicyRow& row, const PolicyInput& input,
                                               PolicyOptions options);
/// A scheduler with the options that every policy has; `name` is for errors, which are as above.
[[nodiscard]] Result<Scheduler> with_options(std::string_view name, Scheduler scheduler,
                                             PolicyOptions options);

/// The estimator `host` ("" = the scheduler's own), with the scheduler's advice beside it. Errors:
/// those of make_estimator.
[[nodiscard]] Result<Estimator> make_estimator(const Scheduler& scheduler, std::string_view host,
                                               const EstimatorInput& input);

}  // namespace schedmate
