// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Holds a run against the rules of acting (docs/actions.md), with code of its own: it reads the
/// book, the journal and the truth of the world, and never asks the loop what is right.

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "journal/audit.hpp"
#include "journal/journal.hpp"
#include "tests/storm/book.hpp"
#include "tests/storm/daemon.hpp"
#include "tests/storm/model_cluster.hpp"

namespace schedmate::sqlite {
class Database;
}

namespace schedmate::storm {

/// What the journal holds in the end.
struct Records {
  std::vector<Action> actions;
  std::vector<journal::Event> events;
  /// Steps of all actions, and remarks, in the order in which they were written.
  struct Entry {
    std::int64_t action = 0;  ///< 0: a remark
    std::string what;         ///< the state, or the remark
    SimTime when;
  };
  std::vector<Entry> entries;
  [[nodiscard]] const Action* find(std::int64_t id) const {
    return id < 1 || id > std::ssize(actions) ? nullptr
                                              : &actions[static_cast<std::size_t>(id - 1)];
  }
};

class Inspector {
 public:
  Inspector(Site& site, Book& book, ModelCluster& cluster, live::Settings settings)
      : site_(site), book_(book), cluster_(cluster), settings_(std::move(settings)) {}

  /// Before a call leaves.
  void sending(Daemon& daemon, const Sent& sent);
  /// Before a batch is appended.
  void recording(Daemon& daemon, const journal::Batch& batch);
  /// After a reading that the loop has believed.
  void reading(const Daemon& daemon);
  /// Before a compaction changes the journal. False: it cannot be read.
  bool archive();
  /// The disk has lost what it said it kept: what rests on the record is judged no more.
  void forget_journal();
  /// After anything happened.
  void look();
  /// Whoever fails in this run is shown for long enough to be dealt with.
  void expect_answers() { expects_answers_ = true; }
  /// What keeps it from being settled; "": nothing.
  [[nodiscard]] std::string unsettled(const Daemon& daemon) const;
  /// All that can be told once it has settled.
  void at_end(Daemon& daemon);

 private:
  void accuse(std::string rule, std::string what) {
    book_.accuse(site_.timeline.now(), std::move(rule), std::move(what));
  }
  void check_record(Daemon& daemon, const Sent& sent);
  void check_mode(Daemon& daemon, const Sent& sent, const Action& action);
  void check_in_service(const Daemon& daemon, const Action& action);
  void check_repeat(const Sent& sent);
  void check_effect(const Effect& effect);
  [[nodiscard]] bool takes_back(const Action& action) const;

  using JobKey = std::pair<std::string, SimTime>;  // id, submission
  void check_orders(const journal::Batch& batch);
  void look_for_others(const Daemon& daemon);
  void check_alone(const Daemon& daemon, const journal::Batch& batch);
  void check_gpus(Daemon& daemon, const journal::Batch& batch);
  [[nodiscard]] Result<std::unique_ptr<sqlite::Database>> open_to_read() const;
  [[nodiscard]] bool archive(sqlite::Database& database);
  void check_compacted(Daemon& daemon);
  [[nodiscard]] static std::string unhandled_failure(const Daemon& daemon);
  [[nodiscard]] bool read(Records& records);
  void check_chain();
  void check_calls_on_record(const Records& records);
  void check_approvals(const Records& records);
  void check_caps(const Records& records);
  void check_breaker(const Records& records);
  void check_witnesses(const Records& records);
  void check_lifted(const Records& records);
  void check_lives(const Records& records);
  void check_truth_of_lives(const Records& records);
  void check_outcomes(const Records& records);
  void check_undone(const Records& records);
  void check_no_failure_forgotten(const Records& records, const std::set<AttemptKey>& told);
  [[nodiscard]] bool is_test(const JobKey& job) const;
  void check_hangs(const Records& records);
  void check_failures(const Daemon& daemon, const Records& records);
  [[nodiscard]] bool was_dead(const ActionCall& call, SimTime when) const;
  /// Nodes are tested since `from`, and it is drained at `when`.
  [[nodiscard]] bool was_found(const std::string& node, SimTime from, SimTime when) const;
  void check_views(Daemon& daemon, const Records& records);
  void check_restored(const Action& undo, const Action& undone, const Effect& effect);
  [[nodiscard]] const Effect* effect_of(std::int64_t action) const;
  [[nodiscard]] bool touched(const Action& action, Millis from, Millis to) const;
  [[nodiscard]] std::int64_t drain_cap() const;
  [[nodiscard]] bool approved(const Action& action) const;

  Site& site_;
  Book& book_;
  ModelCluster& cluster_;
  live::Settings settings_;
  bool expects_answers_ = false;
  bool lied_ = false;
  std::uint64_t judged_from_ = 0;  // calls up to this one are of a journal that is lost
  struct Archive {
    std::map<std::int64_t, Action> actions;
    std::vector<journal::Event> events;
    std::vector<Records::Entry> entries;
    std::int64_t last_event = 0, last_entry = 0;
  };
  Archive archive_;
  std::int64_t planned_ = 0;                  // the newest action
  std::map<std::string, std::int64_t> lost_;  // nodes, and the newest action when one was read so
  int read_by_ = 0;                           // the daemon that has read last
  std::map<JobKey, std::set<std::int64_t>> own_orders_;
  std::set<JobKey> left_alone_, foreign_;  // jobs that somebody else has ordered
  // Marks of another SchedMate at the last reading, who made that, and since when he knows.
  std::set<std::string> elsewhere_;
  int watched_by_ = 0;
  struct Warned {
    int life;
    SimTime when;
  };
  std::optional<Warned> warned_;
  std::size_t effects_seen_ = 0;
  std::map<std::int64_t, std::set<std::uint64_t>> effective_;  // calls by action
  std::map<std::int64_t, int> sends_;
};

}  // namespace schedmate::storm
