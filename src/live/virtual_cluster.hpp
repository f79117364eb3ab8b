// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A pool of nodes of a live cluster and the policy that decides who runs there: the live loop's
/// side of `Policy` and `View`, as the simulator's engine is the other. It holds what the policy
/// believes; when the cluster turns out otherwise (a start that failed, a job that somebody else
/// started), the policy begins anew with what is really there (restart()).

#include <cstdint>
#include <map>
#include <optional>
#include <schedmate/action.hpp>
#include <schedmate/estimator.hpp>
#include <schedmate/policy.hpp>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace schedmate::live {

class VirtualCluster {
 public:
  struct Setup {
    std::string name;
    Policy policy;        ///< copied at each restart()
    Estimator estimator;  ///< empty: run times are not known, and predicted as 0
    Placer placer = Placer::consolidate;
    Seconds round{1};
    SharingRule sharing{};  ///< of GPU use that was predicted
    bool packs = false;     ///< Scheduler::packs: the policy knows of jobs that share GPUs
    /// Nodes that are the policy's only while it wants more (Plan::add_node).
    std::set<std::string, std::less<>> spares{};
  };
  struct Node {
    std::string name;
    std::int32_t gpus = 0;
    NodeState state = NodeState::up;
  };
  /// Nodes that have another number of GPUs than the first that has any are left out.
  VirtualCluster(Setup setup, const std::vector<Node>& nodes);
  VirtualCluster(const VirtualCluster&) = delete;
  VirtualCluster& operator=(const VirtualCluster&) = delete;
  ~VirtualCluster() = default;

  /// KnownJob::number names the job here, and is never used again.
  struct Running {
    KnownJob job;
    SimTime since;
    std::vector<NodeGpus> where;
    const Prediction* advice = nullptr;  ///< as in Waiting
    /// A start on its way: it is left out where others hold one of its GPUs, but for this job if
    /// that runs on the same ones.
    std::optional<std::uint64_t> only_beside{};
    bool alone = false;  ///< JobInfo::alone
  };
  /// The policy begins anew: those that run, in order of their starts, and those that wait, in
  /// order of submission. What runs on GPUs that are not there (any more) is left out, and where
  /// the policy packs nothing, what runs beside an earlier one.
  struct Waiting {
    KnownJob job;
    bool measured = false;               ///< JobInfo::profiled
    const Prediction* advice = nullptr;  ///< instead of the estimator's; null: there is none
    bool alone = false;                  ///< JobInfo::alone
  };
  void restart(const std::vector<Running>& running, const std::vector<Waiting>& waiting,
               SimTime now);

  /// It waits from now on; false: it is larger than the pool.
  bool enter(const Waiting& entering, SimTime now);
  /// Whether there are GPUs which somebody holds who was left out at the last restart(), because
  /// others held the same, or the node was not known: it must begin anew, or they would seem free.
  /// Or nodes have come, and somebody did not enter since it was larger than the pool.
  [[nodiscard]] bool is_outdated() const { return is_outdated_; }
  /// What ran elsewhere is learned from.
  void learn(const FinishedJob& job) const {
    if (setup_.estimator) setup_.estimator.learn(job);
  }
  /// Of its estimator.
  [[nodiscard]] Prediction predict(const KnownJob& job, SimTime now) const {
    return setup_.estimator ? setup_.estimator({job, now}) : Prediction();
  }
  /// Of all its nodes but the spare ones.
  [[nodiscard]] std::int64_t gpus() const { return own_nodes_ * cluster_.gpus_per_node(); }
  /// It waits no more, without a start.
  void withdraw(std::uint64_t number, SimTime now);
  /// It has left its GPUs; `finished`: what the estimator learns of it, null = nothing.
  void ended(std::uint64_t number, SimTime now, const FinishedJob* finished);
  /// The cluster shows since when it runs.
  void confirm(std::uint64_t number, SimTime since);
  /// What its log shows of its speed, relative to running alone, since it shares its GPUs or does
  /// so no more.
  void tell_speed(std::uint64_t number, double speed, SimTime now);
  /// Whether it was started here, on these GPUs (of a node without numbers: on as many).
  [[nodiscard]] bool runs_on(std::uint64_t number, const std::vector<NodeGpus>& where) const;
  [[nodiscard]] bool has(const std::string& node) const { return node_index_.contains(node); }
  [[nodiscard]] bool knows(std::uint64_t number) const { return ids_.contains(number); }

  void see(const Node& node, SimTime now);
  /// Nodes that are not among these are down.
  void lose_others(const std::set<std::string_view>& nodes, SimTime now);

  struct Decision {
    Plan::Decision::Kind kind;
    std::uint64_t job;
    std::vector<NodeGpus> where{};          ///< start
    std::optional<std::uint64_t> beside{};  ///< on GPUs that this one holds, too
  };
  /// Asks the policy if something happened or it wished to be asked by now.
  std::vector<Decision> decide(SimTime now);
  /// When it wishes to be asked although nothing happened.
  [[nodiscard]] SimTime next_call() const { return next_call_; }
  [[nodiscard]] const Cluster& cluster() const { return cluster_; }

 private:
  struct Known {
    KnownJob job;
    std::string id;
    Profile predicted;  // what JobInfo::profile points to when nothing was measured
  };
  [[nodiscard]] static Cluster make_cluster(const Setup& setup, const std::vector<Node>& nodes);
  JobId add(const KnownJob& job, const Prediction* advice, SimTime now);
  /// On nodes that are known; it has GPUs on the others, too, which are nobody's meanwhile.
  [[nodiscard]] std::optional<Placement> placement(const std::vector<NodeGpus>& where) const;
  [[nodiscard]] bool is_crowded(const Running& running) const;
  [[nodiscard]] std::vector<NodeGpus> names(const Placement& where) const;
  void take(const Plan::Decision& decision, SimTime now, std::vector<Decision>& taken);
  [[nodiscard]] std::vector<JobId> running_on(const Placement& where, JobId except) const;
  void see_sharing(const Placement& where, SimTime now);
  void drop(JobId id);
  void forget();
  void follow_spares();
  void bind(std::uint32_t index);
  void give_back_spares();
  void something_happened(SimTime now);

  Setup setup_;
  std::vector<Node> nodes_;  // by index in the cluster; without a name: it is no more
  std::int64_t own_nodes_ = 0;
  std::map<std::string, Node, std::less<>> spares_;        // whether they are in use or not
  std::map<std::uint64_t, std::vector<NodeGpus>> beside_;  // run on spares that nobody asked for
  std::map<std::string, std::uint32_t, std::less<>> node_index_;
  Cluster cluster_;
  Plan plan_;
  Policy policy_;
  JobMap<JobInfo> infos_;
  JobMap<Known> known_;
  std::unordered_map<std::uint64_t, JobId> ids_;
  std::uint32_t entered_ = 0;
  bool leaves_out_ = false, lacks_nodes_ = false, is_outdated_ = false;
  std::vector<JobId> arrived_, ended_, withdrawn_, adopted_, tracked_;
  std::vector<std::uint32_t> changed_;  // nodes
  SimTime next_call_ = never;
};

}  // namespace schedmate::live
