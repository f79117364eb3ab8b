// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A Slurm by its command line (docs/slurm.md): squeue, sprio, sinfo and scontrol show read it,
/// scontrol and scancel change it. No shell reads a word, and every program is gone by its
/// deadline. Where Slurm's library is there, it reads jobs and nodes instead.

#include <map>
#include <memory>
#include <optional>
#include <schedmate/connector.hpp>
#include <string>
#include <vector>

#include "slurm_live/ended_away.hpp"
#include "slurm_live/library.hpp"
#include "slurm_live/rows.hpp"
#include "slurm_live/site.hpp"
#include "slurm_live/tools.hpp"

namespace schedmate::slurm_live {

class CommandLine final : public Connector {
 public:
  /// `user`: who this process is.
  CommandLine(Tools tools, std::string user, NodeCare care = {})
      : tools_(std::move(tools)), user_(std::move(user)), care_(std::move(care)) {}

  Result<Abilities> abilities(Deadline within) override;
  /// Jobs and nodes in turn, unless it has been called since: then both.
  Result<Listing> list(SimTime ended_since, Deadline within) override;
  Result<std::optional<SeenJob>> job(const std::string& id, Deadline within) override;
  CallReply call(const ActionCall& call, Deadline within) override;
  Result<std::optional<std::string>> find_submission(const std::string& token,
                                                     Deadline within) override;
  CallReply end_test(const std::string& token, Deadline within) override;
  /// From now on jobs and nodes are read by the library, once it has given its abilities.
  /// `stands_in`: where the library itself fails, the programs read. Errors: unsupported (it is of
  /// another release than the controller), and those of Library.
  Result<void> read_by(std::unique_ptr<Library> library, bool stands_in, Deadline within);
  /// Once it has given its abilities.
  [[nodiscard]] const Site& site() const { return *site_; }
  /// A job as an earlier process has read it: a requeue changes what Slurm says of its first
  /// submission, and it may have ended and been forgotten since.
  void know(const SeenJob& job);

 private:
  using Until = Tools::Until;
  Result<void> know_site(Until until);
  Result<std::vector<Row>> read_jobs(Until until) const;
  void add_tokens(std::vector<Row>& rows) const;
  /// At least that one, where there is one.
  Result<std::vector<Row>> read_job(const std::string& id, Until until) const;
  Result<std::vector<SeenNode>> list_nodes(Until until) const;
  /// Whether the programs are to be asked in its place.
  bool has_failed(const Result<LibraryAnswer>& answer) const;
  /// Nothing: as at the reading before.
  Result<std::optional<std::vector<Row>>> fresh_jobs(Until until) const;
  Result<std::optional<std::vector<SeenNode>>> fresh_nodes(Until until) const;
  Result<std::vector<SeenNode>> print_nodes(Until until) const;
  bool take(std::vector<Row>& rows, Until until);
  [[nodiscard]] std::vector<SeenJob> ended_away(const std::vector<SeenJob>& shown,
                                                Until until) const;
  CallReply call_job(const ActionCall& call, Until until) const;
  CallReply call_node(const ActionCall& call, Until until) const;
  CallReply requeue(const ActionCall& call, const Row& row, Until until) const;
  CallReply let_go(const Row& row, Until until) const;
  CallReply test(const ActionCall& call, Until until);
  CallReply begin_test(const ActionCall& call, const std::vector<SeenNode>& nodes, Until until);
  CallReply wake(const ActionCall& call, const SeenNode& node, Until until) const;
  CallReply release_spare(const std::string& node, Until until) const;
  Result<void> see_reservations(std::vector<SeenNode>& nodes, Until until);
  Result<std::optional<SeenJob>> test_job(const std::string& token, Until until) const;
  CallReply scontrol(std::vector<std::string> words, Until until) const;

  Tools tools_;
  std::string user_;
  NodeCare care_;
  std::unique_ptr<Library> library_;  // null: the programs are asked
  bool stands_in_ = false;
  std::optional<Site> site_;
  Abilities abilities_;
  KeptJobs kept_;
  LostJobs unended_;  // as last seen, here or by an earlier process
  std::vector<SeenJob> jobs_;
  std::vector<SeenNode> shown_nodes_, nodes_;     // without, and with what reservations say
  std::vector<std::string> tests_;                // that have a reservation
  static constexpr int readings_after_call = 30;  // a call that was lost may arrive late
  int look_for_tests_ = readings_after_call;      // so many readings yet, though none is known
  std::map<std::string, Rank, std::less<>> ranks_;
  std::int64_t version_ = -1;
  SimTime now_;
  enum class Turn : std::uint8_t { both, jobs, nodes } turn_ = Turn::both;
};

}  // namespace schedmate::slurm_live
