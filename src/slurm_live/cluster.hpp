// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A Slurm by its command line (docs/slurm.md): squeue, sprio, sinfo and scontrol show read it,
/// scontrol and scancel change it. No shell reads a word, and every program is gone by its
/// deadline.

#include <optional>
#include <schedmate/connector.hpp>
#include <string>
#include <vector>

#include "slurm_live/rows.hpp"
#include "slurm_live/site.hpp"
#include "slurm_live/tools.hpp"

namespace schedmate::slurm_live {

class CommandLine final : public Connector {
 public:
  /// `user`: who this process is.
  CommandLine(Tools tools, std::string user) : tools_(std::move(tools)), user_(std::move(user)) {}

  Result<Abilities> abilities(Deadline within) override;
  /// Jobs and nodes in turn, unless it has been called since: then both.
  Result<Listing> list(SimTime ended_since, Deadline within) override;
  Result<std::optional<SeenJob>> job(const std::string& id, Deadline within) override;
  CallReply call(const ActionCall& call, Deadline within) override;
  Result<std::optional<std::string>> find_submission(const std::string& token,
                                                     Deadline within) override;
  /// Once it has given its abilities.
  [[nodiscard]] const Site& site() const { return *site_; }
  /// When a job was submitted first, as an earlier process has read it: a requeue changes what
  /// Slurm says of that.
  void know(const std::string& id, SimTime submitted, std::int64_t restarts);

 private:
  using Until = Tools::Until;
  Result<void> know_site(Until until);
  Result<std::vector<Row>> read_jobs(Until until) const;
  Result<std::vector<SeenNode>> list_nodes(Until until) const;
  CallReply call_job(const ActionCall& call, Until until) const;
  CallReply call_node(const ActionCall& call, Until until) const;
  CallReply requeue(const ActionCall& call, const Row& row, Until until) const;
  CallReply let_go(const Row& row, Until until) const;
  CallReply scontrol(std::vector<std::string> words, Until until) const;

  Tools tools_;
  std::string user_;
  std::optional<Site> site_;
  Abilities abilities_;
  KeptJobs kept_;
  std::vector<SeenJob> jobs_;
  std::vector<SeenNode> nodes_;
  std::int64_t version_ = -1;
  SimTime now_;
  enum class Turn : std::uint8_t { both, jobs, nodes } turn_ = Turn::both;
};

}  // namespace schedmate::slurm_live
