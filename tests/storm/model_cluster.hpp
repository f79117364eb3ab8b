// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A cluster as the storm has it: nodes and jobs, a scheduler of its own where the seed says so,
/// and people who do what they like. It is told each call once by whoever delivers it, and writes
/// into the book what the call did.

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <schedmate/connector.hpp>
#include <set>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "tests/storm/book.hpp"
#include "tests/storm/timeline.hpp"

namespace schedmate::storm {

class ModelCluster final : public Connector {
 public:
  struct Setup {
    int nodes = 4, partitions = 1, gpus = 4;
    bool starts_jobs = true;    ///< it has a scheduler
    bool tokens_unique = true;  ///< a token is taken once
    Seconds remembers{900};     ///< jobs that ended
  };
  struct Job {
    SeenJob seen;
    Seconds runs{60};
    EndState will_end = EndState::completed;
    std::vector<std::string> not_on{};
    std::vector<std::string> tests{};  ///< nodes; not empty: it is a test of them
    bool hangs = false;                ///< of a test
    std::size_t life = 0;              ///< in the book
    std::uint64_t run = 0;             ///< which of its runs
  };
  struct Node {
    std::string name, partition;
    std::vector<std::vector<std::string>> holders;  ///< of each GPU: no job, one, or two
    bool dead = false;
    bool awaited = false;  ///< by a test
    std::string drain;     ///< the reason; "": none
    std::vector<std::pair<Millis, Millis>> bad{};
    bool silent = false;  ///< while it is bad only logs and tests show it
    std::vector<std::pair<Millis, Millis>> deaths{};  ///< the last may still go on
  };

  ModelCluster(Setup setup, Timeline& timeline, Book& book);

  Result<Abilities> abilities(Deadline within) override;
  Result<Listing> list(SimTime ended_since, Deadline within) override;
  Result<std::optional<SeenJob>> job(const std::string& id, Deadline within) override;
  CallReply call(const ActionCall& call, Deadline within) override;
  Result<std::optional<std::string>> find_submission(const std::string& token,
                                                     Deadline within) override;
  /// Which one of those that were sent is called next.
  void next_is(const Sent& sent) { sent_ = sent; }

  // The world.
  struct NewJob {
    std::string partition{}, user{}, token{};
    std::int32_t gpus = 1;
    Seconds runs{60};
    EndState will_end = EndState::completed;
    bool reuses_id = false;
    std::vector<std::string> tests{};
  };
  std::string submit(const NewJob& job);
  void set_dead(Node& node, bool dead);
  void restart_controller(Millis away);
  /// A test of nodes begins, or has come to its end and is about to tell the truth.
  struct Fate {
    Seconds runs{30};
    bool hangs = false;  ///< somebody cancels it in the end
  };
  std::function<Fate()> test_begins{};
  std::function<bool(const std::vector<std::string>& nodes, bool bad)> test_lies{};
  [[nodiscard]] static bool was_bad(const Node& node, Millis from, Millis to);
  /// Starts what fits, tests first.
  void schedule();

  // People. Nothing happens where it cannot.
  void human_drains(const std::string& name, const std::string& reason);
  void human_undrains(const std::string& name);
  void human_requeues(const std::string& id);
  void human_cancels(const std::string& id);
  void human_holds(const std::string& id, const std::string& mark);
  void human_releases(const std::string& id);
  void human_starts(const std::string& id);
  void human_orders(const std::string& id, std::int64_t order);
  void human_notes(const std::string& id, const std::string& note);

  [[nodiscard]] std::vector<Node>& nodes() { return nodes_; }
  [[nodiscard]] std::vector<Job>& jobs() { return jobs_; }
  [[nodiscard]] Job* find(const std::string& id);
  [[nodiscard]] Node* find_node(const std::string& name);
  [[nodiscard]] std::int64_t version() const { return version_; }
  [[nodiscard]] bool starts_jobs() const { return setup_.starts_jobs; }
  [[nodiscard]] static bool is_out(const Node& node) { return node.dead || !node.drain.empty(); }
  /// Whether the job would start were all that wait in front of it not there.
  [[nodiscard]] bool could_run(const Job& job) const;
  [[nodiscard]] bool ended_within(Seconds time) const;
  /// Within which all jobs have run, one after the other, with `pause` after each.
  [[nodiscard]] Seconds work(Seconds pause) const;

 private:
  struct Said {
    bool effective = false;
    std::string refused{};  ///< "": done
    std::string before{}, job{};
  };
  Said carry_out(const ActionCall& call);
  Said on_job(Job& job, const ActionCall& call);
  Said on_waiting(Job& job, const ActionCall& call);
  Said start_now(Job& job, const ActionCall& call);
  Said drain(Node& node, const ActionCall& call);
  Said undrain(Node& node, const ActionCall& call);
  Said enter(const ActionCall& call);
  Said enter_test(const ActionCall& call);
  [[nodiscard]] const Job* with_token(const std::string& token) const;
  [[nodiscard]] EndState outcome_of(const Job& job);
  void note_test(const Job& job, EndState state);

  void begin(Job& job, const std::vector<NodeGpus>& where);
  void end(Job& job, EndState state);
  void requeue(Job& job);
  void leave_gpus(Job& job);
  void forget();
  void open_life(Job& job);
  void deed(std::string what, const std::string& subject, std::string before = {});
  [[nodiscard]] std::optional<std::vector<NodeGpus>> place(const Job& job, bool empty) const;

  Setup setup_;
  Timeline& timeline_;
  Book& book_;
  std::vector<Node> nodes_;
  std::vector<Job> jobs_;
  std::vector<std::string> gone_;  // ids of jobs that were forgotten
  Sent sent_;
  std::int64_t version_ = 1;
  int next_id_ = 101;
  std::uint64_t runs_ = 0;
  Millis away_until_ = 0;
};

}  // namespace schedmate::storm
