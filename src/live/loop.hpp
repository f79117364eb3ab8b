// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The live loop: what happens comes in as events with their time, what is to be done goes out as
/// effects. Deterministic, no I/O, no clock, one thread: the daemon, tests and seeded disasters run
/// the same code. Whoever drives it carries out each effect in order and answers it with its event;
/// calls may take their time, all else is answered before the next event of another kind.
///
/// A record is safe before a call is made: calls come out only after the batch that holds their
/// intents was acknowledged (Appended). One batch is on its way at a time; what happens meanwhile
/// goes into the next.

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <schedmate/connector.hpp>
#include <schedmate/scheduler.hpp>
#include <set>
#include <string>
#include <vector>

#include "journal/journal.hpp"
#include "live/actions.hpp"
#include "live/doubts.hpp"
#include "live/events.hpp"
#include "live/jobs.hpp"
#include "live/ledger.hpp"
#include "live/lives.hpp"
#include "live/loop_options.hpp"
#include "live/node_care.hpp"
#include "live/ordering.hpp"
#include "live/submissions.hpp"
#include "live/virtual_cluster.hpp"
#include "live/witnesses.hpp"

namespace schedmate::live {

struct FailureCase;
struct Response;

class Loop {
 public:
  Loop(LoopOptions options, const Past& past, SimTime now);

  std::vector<Effect> step(const Event& event, SimTime now);
  /// Nothing can be recorded, as after an Appended with an error: from now on it reads the cluster
  /// and shows what it reads; it decides, records and calls nothing.
  void only_look() { over_ = true; }
  /// What an earlier loop found of jobs besides what the journal holds, of the attempts that are
  /// the same there. Before the first step.
  void recall(const std::map<std::string, Life>& earlier);
  /// Runs of before this loop, by their ends: what is expected of those that wait stands on them,
  /// too, where the cluster starts jobs itself.
  void learn_past(const std::vector<SeenJob>& runs);
  /// A Ticked is due then, at the latest: to read the cluster again.
  [[nodiscard]] SimTime next_tick() const;
  /// When a policy wishes to be asked though nothing happens; `never`: none does, or is asked.
  [[nodiscard]] SimTime next_wake() const;

  struct Counts {
    std::uint64_t readings = 0, blind = 0;             ///< answered, and not
    std::uint64_t calls = 0;                           ///< made of the cluster
    std::uint64_t anew = 0;                            ///< times that a policy began anew
    std::array<std::uint64_t, 5> changes{};            ///< by Change::Kind
    std::array<std::uint64_t, action_states> steps{};  ///< of actions, by state
  };
  [[nodiscard]] const Jobs& jobs() const { return jobs_; }
  [[nodiscard]] const Actions& actions() const { return actions_; }
  [[nodiscard]] const Lives& lives() const { return lives_; }
  /// Null: nobody is told who goes first.
  [[nodiscard]] const Ordering* ordering() const { return ordering_ ? &*ordering_ : nullptr; }
  [[nodiscard]] const Counts& counts() const { return counts_; }
  [[nodiscard]] const Witnesses& witnesses() const { return witnesses_; }
  [[nodiscard]] const Ledger& ledger() const { return ledger_; }

 private:
  struct Pool {
    Pool(VirtualCluster::Setup setup, const std::vector<VirtualCluster::Node>& nodes)
        : cluster(std::move(setup), nodes) {}
    VirtualCluster cluster;
    bool surprised = true;  // by what happened otherwise than it believes
    [[nodiscard]] bool must_begin_anew() const { return surprised || cluster.is_outdated(); }
  };
  void take(const Listed& event, SimTime now);
  void take(const Appended& event, SimTime now);
  void take(const Returned& event, SimTime now);
  void take(const Proposed& event, SimTime now);
  void take(const Studied& event, SimTime now);
  void take(const Requested& event, SimTime now);
  void take(const Decided& event, SimTime now);
  void take(const Ticked& event, SimTime now);
  void take(const Witnessed& event, SimTime now);
  std::vector<Effect> look(const Event& event, SimTime now);
  bool believes(const Listed& event, SimTime now);

  [[nodiscard]] std::optional<Answer> answered_before(const Requested& event) const;
  void tell(const Change& change, SimTime now);
  void keep_jobs(const std::vector<Change>& changes);
  void see_nodes(const Listing& listing, SimTime now);
  void follow(const Change& change, SimTime now);
  void follow_start(Pool& pool, const Change& change);
  void follow_ends(const Listing& listing, SimTime now);
  void decide(SimTime now);
  void decide(Pool& pool, SimTime now);
  void carry_out(Pool& pool, const VirtualCluster::Decision& decision, SimTime now);
  void begin_anew(Pool& pool, SimTime now);
  void order_jobs(const std::vector<Change>& changes, bool is_first, SimTime now);
  void propose_orders(SimTime now);
  void propose_notes(SimTime now);
  void follow_lives(const std::vector<Change>& changes, SimTime now);
  void keep_life(const std::string& id);
  void study(SimTime now);
  void take_advice(const std::string& id, SimTime now);
  void take_speed(const std::string& id, SimTime now);
  void explain_loss(const std::string& id);
  void count_avoided(const FailureCase& failure, const std::vector<PastRun>& past);
  [[nodiscard]] const Prediction* advice_on(const std::string& id) const;
  void doubt_good_ends(const std::vector<Change>& changes, const Listing& listing, SimTime now);
  void respond_to_failures(SimTime now);
  void respond(Response response, SimTime now);
  void respond_to_hangs(SimTime now);
  void replace_forgotten(SimTime now);
  bool drain_if_agreed(const std::string& node, SimTime now);
  void follow_test(const Action& test, const Listing& listing, SimTime now);
  void care_for_nodes(const Listing& listing, SimTime now);
  [[nodiscard]] std::vector<NodeWitness> witnesses_of(const SeenJob& job, SimTime now) const;
  [[nodiscard]] SimTime next_reading() const;
  [[nodiscard]] bool is_own_test(const SeenJob& job) const;
  [[nodiscard]] std::set<std::string_view> nodes_tested(const Listing& listing) const;
  [[nodiscard]] Pool* pool_of(const SeenJob& job);
  [[nodiscard]] Pool* home_of(const SeenJob& job);
  [[nodiscard]] Pool* profiler();
  [[nodiscard]] bool is_measured(const SeenJob& job);
  [[nodiscard]] VirtualCluster::Waiting as_waiting(const Attempt& attempt);
  [[nodiscard]] bool is_alone(const std::string& id) const;
  [[nodiscard]] bool skips_profile(const Attempt& attempt, SimTime now);
  void end_profiles(SimTime now);
  void let_in(bool to_profiler, SimTime now);
  [[nodiscard]] KnownJob known(const Attempt& attempt);
  void ask_to_list();
  void flush(SimTime now);
  [[nodiscard]] bool nothing_to_record() const;
  void note_actions();
  void give(std::vector<Answer>& answers);

  LoopOptions options_;
  Jobs jobs_;
  Doubts doubts_{options_.settings.rules.whole_readings};
  Lives lives_;
  Actions actions_;
  std::optional<Ordering> ordering_;
  Witnesses witnesses_;
  Submissions submissions_;
  Ledger ledger_;
  std::map<std::string, Pool, std::less<>> pools_;
  std::map<std::string, std::uint32_t, std::less<>> users_, pool_numbers_;
  std::map<std::string, std::string> notes_due_;  // what is expected of jobs, to be written there
  std::map<std::uint64_t, std::string> ids_;      // jobs by the number of their attempt
  std::map<std::uint64_t, SimTime> not_before_;   // attempts whose start failed
  std::set<std::uint64_t> shadowed_;              // attempts whose start is on record
  std::vector<std::string> coming_;               // jobs that wait to be let in
  std::map<std::uint64_t, SimTime> profiles_;     // attempts on the profiler, and until when
  std::set<std::int64_t> profiler_calls_;         // actions that have not come back
  std::set<std::string> bypassing_;               // jobs that need not be measured
  struct GoodEnd {
    std::uint64_t reading;
    SimTime when;
  };
  std::map<std::string, GoodEnd> good_ends_;  // jobs that have just ended well
  NodeCare care_;
  std::vector<std::string> ends_;  // of tests, once their record is safe
  journal::Batch batch_;
  std::vector<Effect> effects_;
  std::vector<Answer> answers_, promised_;  // without a record, and with the batch on its way
  bool appending_ = false, over_ = false, listing_ = false, read_before_ = false;
  std::optional<SimTime> began_;           // the journal's first reading, by the cluster's clock
  bool blind_ = false;                     // the last reading failed, or was not believed
  std::uint64_t readings_ = 0;             // asked for
  std::multiset<std::int64_t> calls_out_;  // actions whose call has not come back
  bool reread_ = false;  // calls have come back since the last reading was asked for
  SimTime next_list_ = SimTime::min();
  Counts counts_;
};

}  // namespace schedmate::live
