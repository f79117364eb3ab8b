// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A Ray cluster by its Jobs API and its nodes (docs/ray.md), with the queue that Ray lacks. A job
/// is given to Ray when SchedMate starts it, on the nodes and GPUs that were decided, under an id
/// that is new for each attempt. What Ray runs for others is shown, and its GPUs are left alone.

#include <map>
#include <memory>
#include <optional>
#include <schedmate/connector.hpp>
#include <set>
#include <string>
#include <vector>

#include "ray_live/driver.hpp"
#include "ray_live/head.hpp"
#include "ray_live/ledger.hpp"
#include "ray_live/logs.hpp"
#include "ray_live/start.hpp"

namespace schedmate::ray_live {

struct Options {
  StartOptions start{};
  /// By the node's name; the others are of "main".
  std::map<std::string, std::string, std::less<>> partitions{};
  std::string log_folder{};      ///< for logs of jobs that name no file; "": none are fetched
  Seconds start_window{300};     ///< how long Ray may take to begin an attempt
  Seconds remembers{7 * 86400};  ///< jobs that have ended
};

class RayCluster final : public Connector {
 public:
  RayCluster(Head head, Ledger ledger, Options options);

  Result<Abilities> abilities(Deadline within) override;
  Result<Listing> list(SimTime ended_since, Deadline within) override;
  Result<std::optional<SeenJob>> job(const std::string& id, Deadline within) override;
  CallReply call(const ActionCall& call, Deadline within) override;
  Result<std::optional<std::string>> find_submission(const std::string& token,
                                                     Deadline within) override;

 private:
  using Until = Head::Until;
  /// What Ray shows at one instant.
  struct Sight {
    RayVersion version;
    std::map<std::string, RayJob> jobs;
    std::vector<KnownNode> nodes;
    std::map<std::string, double> used;  // GPUs, by node id
    std::string driver{};                // the session of the one that answers
  };
  struct Others {  // who uses GPUs of a node besides our jobs
    SimTime since;
    std::vector<std::int32_t> gpus;
  };
  Result<void> look(Until until);
  Result<void> look_at_version(Until until);
  Result<void> look_at_jobs(bool needs_driver, Until until);
  Result<void> begin_driver(Until until);
  [[nodiscard]] const Head& starter_of(const Entry& entry) const;
  [[nodiscard]] std::string session(bool by_driver) const;
  void show(SimTime now);
  Result<void> follow(SimTime now, Until until);
  Result<void> follow(const Entry& entry, SimTime now, Until until);
  Result<void> settle(Entry entry, const RayJob& record, SimTime now, Until until);
  Result<void> settle_lost(Entry entry, SimTime now);
  static void show_started(Entry& entry, SimTime when);
  Result<void> end_well(Entry entry, SimTime when);
  Result<void> give_back(Entry entry, bool is_attempt);
  Result<void> end(Entry entry, EndState state, SimTime when);
  void see_others(SimTime now);
  [[nodiscard]] std::vector<std::int32_t> free_gpus(const KnownNode& node) const;
  [[nodiscard]] SeenJob shown(const Entry& entry) const;
  [[nodiscard]] SeenJob foreign(const RayJob& record, SimTime now) const;
  [[nodiscard]] SeenNode shown(const KnownNode& node) const;
  [[nodiscard]] std::string partition_of(const std::string& node) const;
  [[nodiscard]] const KnownNode* node(const std::string& name) const;
  [[nodiscard]] std::string node_of_id(const std::string& id) const;
  [[nodiscard]] std::vector<std::string> holders(const std::string& node, std::int32_t gpu) const;
  void fetch_logs(Until until);
  void drop_records(Until until);

  CallReply submit(const ActionCall& call);
  CallReply call_job(const ActionCall& call, const Entry& entry, Until until);
  CallReply start(const ActionCall& call, Entry entry, Until until);
  [[nodiscard]] std::string bars_start(const ActionCall& call, const Entry& entry) const;
  [[nodiscard]] std::string bars_place(const ActionCall& call, const Entry& entry) const;
  Result<llm::HttpReply> put_to_ray(const Entry& entry, const std::vector<KnownNode>& nodes,
                                    Until until);
  CallReply launch(Entry entry, const std::vector<KnownNode>& nodes, Until until);
  Result<void> take(Entry entry, SimTime started);
  CallReply stop(Entry entry, Ending ending, Until until);
  CallReply cancel(Entry entry, Until until);
  CallReply requeue(const ActionCall& call, Entry entry, Until until);
  CallReply change_queued(const ActionCall& call, Entry entry);
  CallReply change_node(const ActionCall& call);

  Head head_;
  Ledger ledger_;
  Options options_;
  Driver driver_;
  Logs logs_;
  Sight sight_;
  std::map<std::string, Others, std::less<>> others_;    // by node
  std::map<std::string, SimTime, std::less<>> changed_;  // when our use of a node last did
  std::vector<SeenJob> jobs_;
  std::vector<SeenNode> nodes_;
  std::map<std::string, SimTime, std::less<>> first_seen_;  // drivers that tell no time
  std::size_t log_turns_ = 0;
  std::int64_t version_ = -1;
  SimTime now_;
};

}  // namespace schedmate::ray_live
