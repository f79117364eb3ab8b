// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The simulator as a cluster that waits to be told who starts: the work of a trace's jobs goes on
/// as in simulate(), but nobody decides anything except whoever calls. Nodes are called VC-NUMBER.
/// Time stands still until advance(). One thread at a time.

#include <map>
#include <memory>
#include <schedmate/connector.hpp>
#include <schedmate/sim.hpp>
#include <set>
#include <string>
#include <vector>

#include "sim/engine.hpp"

namespace schedmate::replay {

class ReplayCluster final : public Connector {
 public:
  /// Both outlive it. Jobs of VCs that the cluster lacks never enter.
  ReplayCluster(const Trace& trace, const ClusterSpec& cluster, const SimOptions& options);

  /// The next instant at which something happens by itself, or `never`.
  [[nodiscard]] SimTime next_instant() const;
  /// All that happens until then, inclusive.
  void advance(SimTime to);
  [[nodiscard]] SimTime now() const { return now_; }
  /// By row, as simulate() gives them.
  [[nodiscard]] const std::vector<JobOutcome>& outcomes() const { return outcomes_; }

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
  };
  struct Shown {
    SeenJob seen;
    std::size_t vc = 0;
    JobId id{};  // in its engine, of the present attempt
  };
  void follow(std::size_t vc, const View& view);
  [[nodiscard]] std::vector<NodeGpus> names(const Vc& vc, const Placement& where) const;
  [[nodiscard]] std::optional<Placement> placement(const Vc& vc,
                                                   const std::vector<NodeGpus>& where) const;
  [[nodiscard]] Vc* vc_of_node(const std::string& name, std::uint32_t& node);
  [[nodiscard]] bool runs(const std::string& id) const;
  CallReply start(Shown& job, const ActionCall& call);
  CallReply evict(Shown& job, const ActionCall& call);
  CallReply change_job(Shown& job, const ActionCall& call);
  CallReply change_node(const ActionCall& call);

  const Trace& trace_;
  std::vector<JobOutcome> outcomes_;
  std::vector<Vc> vcs_;
  std::map<std::string, std::uint32_t, std::less<>> rows_;  // by job id
  std::map<std::uint32_t, Shown> jobs_;                     // by row, that have entered
  std::set<std::uint32_t> present_;                         // rows that wait or run
  std::multimap<SimTime, std::uint32_t> ended_;
  SimTime now_;
  std::int64_t version_ = 0;
  SimOptions options_;
};

}  // namespace schedmate::replay
