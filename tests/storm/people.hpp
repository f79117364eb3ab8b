// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Everybody but the daemon: users who submit, humans at the cluster, nodes that die, slow work
/// that proposes, operators.

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tests/storm/book.hpp"
#include "tests/storm/daemon.hpp"
#include "tests/storm/faults.hpp"
#include "tests/storm/logs.hpp"
#include "tests/storm/model_cluster.hpp"
#include "tests/storm/timeline.hpp"

namespace schedmate::storm {

/// How the marks of another SchedMate begin.
inline constexpr std::string_view marks_elsewhere = "schedmate:elsewhere/";

/// Which mode rules an action of this kind. Written apart from the loop's rule, which it checks.
[[nodiscard]] live::Area area_of(const ActionCall& call);

class People {
 public:
  /// Where they live; `daemon` gives the one that answers now, or null.
  struct Town {
    Dice& dice;
    Timeline& timeline;
    Book& book;
    ModelCluster& cluster;
    Site& site;
    std::function<Daemon*()> daemon;
    Seconds witness_age{600};
  };
  explicit People(Town town)
      : town_(std::move(town)),
        users_(town_.dice.stream("users")),
        proposers_(town_.dice.stream("proposers")),
        readers_(town_.dice.stream("readers")),
        tests_(town_.dice.stream("tests")),
        logs_(town_.dice, town_.timeline, town_.book),
        liar_(town_.dice.stream("liar").below(2) == 0 ? "kernel" : "gpu") {
    run_tests();
  }

  /// Some seconds have passed.
  void act();
  /// The storm is over: what people did to nodes and jobs they take back.
  void tidy_up();
  void submit_jobs();
  /// Somebody reads code, a log, or why a job failed.
  void study(const live::Study& study, std::function<void(Result<live::Finding>)> answer);
  /// An operator undoes one that is verified.
  void undo_one();
  /// An operator approves all that wait.
  void approve_all();

 private:
  void run_tests();
  void at_nodes();
  void at_jobs();
  void world();
  void operators();
  void proposers();
  void propose_bad_nodes();
  void propose_lies();
  void propose_for_job();
  void propose_for_failed(const SeenJob& job);
  void propose_careless();
  void propose_packing();
  [[nodiscard]] live::Finding finding(const live::Study& study);
  [[nodiscard]] live::CauseFound cause_of(const SeenJob& job);
  void offer(live::Proposal proposal);
  void decide(live::Decided::What what, std::int64_t action);
  [[nodiscard]] live::NodeWitness witness(const std::string& source, const std::string& node,
                                          Seconds age = Seconds(0)) const;
  [[nodiscard]] std::string some_node(Fault fault);
  [[nodiscard]] std::string some_job(Fault fault, JobPhase phase);
  [[nodiscard]] std::vector<const Action*> actions(ActionState state) const;
  [[nodiscard]] const Listing* read_listing();

  Town town_;
  Random users_, proposers_, readers_, tests_;
  Logs logs_;
  std::string liar_;
  std::set<std::string> blamed_;      // nodes, by logs
  std::vector<Network::Shown> read_;  // what slow work rests on
  int tokens_ = 0, marks_ = 0;
};

}  // namespace schedmate::storm
