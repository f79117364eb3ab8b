// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The simulator as a cluster. Without a host it waits to be told who starts: the work of a trace's
/// jobs goes on as in simulate(), but nobody decides anything except whoever calls; a VC without
/// jobs of its own takes those of all, and whoever is evicted there begins anew in its own. With a
/// host it starts jobs by that policy, as simulate() does, but no job that is held, and those of a
/// higher order first. Nodes are called VC-NUMBER. Jobs may be submitted besides (submission.hpp),
/// and nodes tested (bad_nodes.hpp). Time stands still until advance(). One thread at a time.

#include <map>
#include <memory>
#include <schedmate/connector.hpp>
#include <schedmate/sim.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "replay/bad_nodes.hpp"
#include "replay/submission.hpp"
#include "sim/engine.hpp"

namespace schedmate::replay {

/// With the nodes of the scheduler's profiler as a partition, without those that are lent to it;
/// the last one is the spare of a profiler that grows.
[[nodiscard]] ClusterSpec with_profiler(ClusterSpec cluster, const Scheduler& scheduler);
/// Names of the nodes of this partition that are spare.
[[nodiscard]] std::set<std::string, std::less<>> spares_of(const std::string& partition,
                                                           const Scheduler& scheduler);

[[nodiscard]] inline CallReply refused(std::string why) {
  return {CallOutcome::refused, std::move(why), {}};
}
inline const CallReply done{CallOutcome::done, {}, {}};

class ReplayCluster final : public Connector {
 public:
  /// Trace and cluster outlive it. Jobs of VCs that the cluster lacks never enter. `host`: one
  /// without a profiler, which asks the estimator of the options; null = none.
  ReplayCluster(const Trace& trace, const ClusterSpec& cluster, const SimOptions& options,
                const Scheduler* host = nullptr);
  void set_bad_nodes(std::vector<BadNode> bad) { bad_ = std::move(bad); }

  /// The next instant at which something happens by itself, or `never`.
  [[nodiscard]] SimTime next_instant() const;
  /// All that happens until then, inclusive.
  void advance(SimTime to);
  [[nodiscard]] SimTime now() const { return now_; }
  /// By row, as simulate() gives them.
  [[nodiscard]] const std::vector<JobOutcome>& outcomes() const { return outcomes_; }

  /// As list(), but of the jobs only those that have changed since that version, which the caller
  /// has seen, and the nodes only if one has.
  [[nodiscard]] Listing changes(SimTime ended_since, std::int64_t version) const;

  Result<Abilities> abilities(Deadline within) override;
  Result<Listing> list(SimTime ended_since, Deadline within) override;
  Result<std::optional<SeenJob>> job(const std::string& id, Deadline within) override;
  CallReply call(const ActionCall& call, Deadline within) override;
  Result<std::optional<std::string>> find_submission(const std::string& token,
                                                     Deadline within) override;

 private:
  struct Vc {
    std::string name;
    PartitionSpec partition;
    std::unique_ptr<sim::Engine> engine;
    std::vector<std::string> reasons;  // by node
    bool is_for_all = false;
    std::vector<JobOutcome> guests{};  // by row: of jobs of other VCs
  };
  struct Shown {
    SeenJob seen;
    std::int64_t version = 0;      // of its last change
    std::size_t home = 0, vc = 0;  // its own, and where it is
    JobId id{};                    // in its engine, of the present attempt
    bool comes_back = false;       // to the queue, released
  };
  [[nodiscard]] sim::EngineInput input_of(std::size_t vc, std::vector<sim::EngineJob> jobs);
  struct Request {
    Submission submission;
    std::string token;
  };
  static void show(const Request& asked, Shown& job);
  void follow(std::size_t vc, const View& view);
  void follow_end(std::size_t vc, std::uint32_t row);
  void end(std::uint32_t row, SimTime when);
  void follow_host(const View& view, const Plan& plan);
  [[nodiscard]] std::vector<NodeGpus> names(const Placement& where, const std::string& vc) const;
  [[nodiscard]] std::optional<Placement> placement(const Vc& vc,
                                                   const std::vector<NodeGpus>& where) const;
  [[nodiscard]] Vc* vc_of_node(const std::string& name, std::uint32_t& node);
  [[nodiscard]] bool runs(const std::string& id) const;
  CallReply start(Shown& job, const ActionCall& call);
  CallReply evict(Shown& job, const ActionCall& call);
  void move(Shown& job, std::size_t to, bool measured);
  std::uint32_t add(Submission submission, const std::string& token);
  CallReply submit(const ActionCall& call);
  CallReply test(const ActionCall& call);
  void end_tests();
  CallReply cancel(Shown& job);
  CallReply change_job(Shown& job, const ActionCall& call);
  void tell_host(Shown& job, ActionKind kind);
  CallReply change_node(const ActionCall& call);

  Trace trace_;                                               // with the jobs that were submitted
  std::map<std::uint32_t, Request> submitted_;                // by row
  std::map<std::string, std::uint32_t, std::less<>> tokens_;  // the first row with each
  std::vector<JobOutcome> outcomes_;
  std::vector<Vc> vcs_;
  std::map<std::string, std::uint32_t, std::less<>> rows_;  // by job id
  std::map<std::uint32_t, Shown> jobs_;                     // by row, that have entered
  std::set<std::uint32_t> present_;                         // rows that wait or run
  std::multimap<SimTime, std::uint32_t> ended_;
  std::map<std::uint32_t, SimTime> tests_;  // by row, that run: their ends, in the same order
  std::vector<BadNode> bad_;
  SimTime now_;
  std::int64_t version_ = 0, nodes_version_ = 0;
  SimOptions options_;
  std::optional<Scheduler> host_;
  bool moves_ = false;  // whoever enters now is the same attempt
};

}  // namespace schedmate::replay
