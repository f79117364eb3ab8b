// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The actions that are on their way, and the rules of acting (docs/actions.md): what is proposed
/// becomes a record, then a call, then an outcome that was read. Nothing is called here and nothing
/// written: the loop takes the record (take()), and when that is safe the calls (recorded()).

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <schedmate/action.hpp>
#include <schedmate/connector.hpp>
#include <set>
#include <string>
#include <vector>

#include "live/proposal.hpp"
#include "live/settings.hpp"
#include "live/shown.hpp"

namespace schedmate::live {

/// What a new record says of actions. `steps` are of actions that earlier records hold.
struct ActionRecord {
  struct Step {
    std::int64_t action;
    ActionStep step;
  };
  struct Remark {
    std::string what, by, note;
  };
  std::vector<Step> steps;
  std::vector<Action> actions;
  std::vector<Remark> remarks;
  std::optional<std::string> past{};    ///< to be kept: what caps and breaker remember
  std::optional<std::string> agreed{};  ///< the doubt that an operator has settled
};

struct DueCall {
  std::int64_t action;
  ActionCall call;
};

class Actions {
 public:
  static constexpr std::string_view key = "acting";  ///< of ActionRecord::past, where it is kept
  struct Counts {
    std::int64_t proposed = 0, busy = 0, unwitnessed = 0, observed = 0, stopped = 0, capped = 0,
                 unfit = 0;
  };
  /// What an earlier process left. Whether the calls of its open actions were made nobody knows.
  struct Restored {
    std::vector<Action> open{};  ///< at no end
    std::int64_t next_id = 1;
    std::string past{};  ///< ActionRecord::past
    SimTime now;
    std::string doubt{};  ///< why what the journal holds may not be what was on record
  };
  Actions(Settings settings, Restored restored);

  /// Gives the action if there is one now, whatever its state; nothing where a rule forbids it or
  /// its target is busy.
  std::optional<std::int64_t> propose(Proposal proposal, SimTime now);
  /// A person asks for it: a submission, a cancellation. Errors: conflict (the mode is not `act`,
  /// or another action for its target is on its way).
  Result<std::int64_t> request(ActionCall call, const std::string& by, SimTime now);
  /// Operators. Errors: not_found, conflict (its state does not allow that; what can be done).
  Result<void> approve(std::int64_t id, const std::string& by, SimTime now);
  Result<void> reject(std::int64_t id, const std::string& by, SimTime now);
  Result<std::int64_t> undo(std::int64_t id, const std::string& by, SimTime now);
  void close_breaker(const std::string& by, SimTime now);

  /// A call has come back; `reading`: the number of the last reading that was asked for by then.
  void returned(std::int64_t id, const CallReply& reply, std::uint64_t reading, SimTime now);
  /// Reading number `number` shows this.
  void read(const Reading& reading, std::uint64_t number, SimTime now);
  void see(const Listing& listing);  ///< its nodes alone
  /// What time alone brings about.
  void tick(SimTime now);

  [[nodiscard]] ActionRecord take();
  /// Whether calls wait for the record that was just taken.
  [[nodiscard]] bool awaits_record() const { return !in_record_.empty(); }
  /// The records taken so far are safe: calls that may be made now.
  std::vector<DueCall> recorded();

  [[nodiscard]] const Action* find(std::int64_t id) const;
  /// On their way, verified and to be undone, or at an end that is not recorded yet.
  [[nodiscard]] const std::map<std::int64_t, Action>& all() const { return actions_; }
  /// As they were last read.
  [[nodiscard]] const std::map<std::string, SeenNode, std::less<>>& nodes() const { return nodes_; }
  /// Ends that a reading must show, so that a submission whose call was lost is found, or surely
  /// not there; `never`: there is none.
  [[nodiscard]] SimTime looks_back_to() const;
  /// Ended since the last call, newest last.
  std::vector<Action> take_ended();
  /// Drains that a controller has forgotten since the last call.
  std::vector<Action> take_forgotten();
  /// Whether its call is to be made, or has not come back.
  [[nodiscard]] bool is_to_be_called(std::int64_t id) const {
    const auto call = calls_.find(id);
    return call != calls_.end() && !call->second.reply;
  }
  /// The start of the job that is on its way; null: none.
  [[nodiscard]] const Action* start_of(const std::string& job) const;
  /// What is on its way for a target (targets_of()); null: nothing.
  [[nodiscard]] const Action* action_on(const std::string& target) const;
  /// When time decides about a call whose outcome no reading has shown; `never`: there is none.
  [[nodiscard]] SimTime next_due() const;
  [[nodiscard]] bool busy(const ActionCall& call) const;
  [[nodiscard]] bool breaker_open() const {
    return breaker_since_ || foreign_since_ || !doubt_.empty();
  }
  /// What is wrong with the journal, which keeps the breaker open until an operator closes it.
  [[nodiscard]] const std::string& doubt() const { return doubt_; }
  /// That of another instance which was seen to act here and keeps the breaker open: meanwhile
  /// nothing is called at all; "": none.
  [[nodiscard]] const std::string& foreign_mark() const { return foreign_mark_; }
  /// As the settings say, or less where another instance acts.
  [[nodiscard]] Mode mode_of(Area area) const;
  [[nodiscard]] const Counts& counts() const { return counts_; }
  [[nodiscard]] const Settings& settings() const { return settings_; }

 private:
  /// What is known of a call beside the action's record.
  struct Call {
    int made = 0;
    std::optional<CallReply> reply{};  ///< of the last one
    std::uint64_t reading = 0;         ///< what is shown counts in later ones
    SimTime since{};                   ///< of the reply
  };

  Action* find(std::int64_t id);
  struct Deciding {
    Mode mode;
    std::int64_t undoes;
    std::string by;
    SimTime now;
  };
  std::int64_t record(Proposal proposal, const Deciding& deciding);
  void step(Action& action, ActionStep next);
  void come_out(Action& action, ActionState state, SimTime now, std::string_view note);
  void intend(Action& action, SimTime now, const std::string& by, bool counts = true);
  void judge(Action& action, const Reading& reading, std::uint64_t number, SimTime now);
  void judge_reply(Action& action, SimTime now);
  void judge_absent(Action& action, Call& call, const Reading& reading, SimTime now);
  enum class Look : std::uint8_t { absent, too_early, forgotten };
  [[nodiscard]] static Look look_for_submission(const Action& action, SimTime called,
                                                const Listing& listing);
  [[nodiscard]] bool is_outdated(const Action& action) const;
  [[nodiscard]] bool may_call_again(const Action& action, const Call& call, SimTime now) const;
  [[nodiscard]] bool is_forgotten(const Action& action, const Listing& listing) const;
  void watch(Action& action, const Reading& reading, SimTime now);
  void free_orphans(const Reading& reading, SimTime now);
  [[nodiscard]] bool is_own_orphan(std::string_view text) const;
  [[nodiscard]] bool is_fit(const ActionCall& call) const;
  [[nodiscard]] bool has_witnesses(const Proposal& proposal, SimTime now) const;
  [[nodiscard]] std::string over_cap(const Proposal& proposal) const;
  [[nodiscard]] std::int64_t share_of_nodes(std::int64_t pct, std::int64_t least) const;
  void count(const Proposal& proposal, SimTime now);
  void forget_past(SimTime now);
  void look_for_others(const Listing& listing, SimTime now);
  void discard_waiting(SimTime now, const std::string& why);
  [[nodiscard]] bool is_on_record(const ActionCall& call, SimTime now);
  void discard_test(const ActionCall& drain, SimTime now);
  void open_breaker(SimTime now, const std::string& why);
  void tell_chief(SimTime now, std::string text);
  void keep_past();
  void restore_past(std::string_view text);

  Settings settings_;
  std::map<std::int64_t, Action> actions_;
  std::map<std::int64_t, Call> calls_;                        // of those in flight
  std::map<std::string, std::int64_t, std::less<>> targets_;  // of those in flight
  std::map<std::string, SimTime> shadow_drains_;              // by node, when they were recorded
  std::set<std::int64_t> fresh_;                              // not taken yet
  // Calls to be made, and with the record on its way; actions that have ended in that.
  std::vector<std::int64_t> due_, in_record_, over_in_record_;
  ActionRecord record_;
  std::vector<Action> ended_, forgotten_;
  std::int64_t next_id_;
  std::map<std::string, SeenNode, std::less<>> nodes_;  // at the last reading
  std::deque<SimTime> burst_;                           // proposals of the last minute
  std::deque<SimTime> disturbed_;                       // of the last hour
  struct Requeue {
    SimTime when;
    std::string owner;
  };
  std::deque<Requeue> requeued_;
  std::deque<std::pair<SimTime, std::string>> bad_;     // nodes that were proposed to be drained
  std::map<std::string, SimTime, std::less<>> lifted_;  // own drains, by somebody else
  std::optional<SimTime> breaker_since_, foreign_since_;
  std::optional<SimTime> read_at_;  // the last reading, by the cluster's clock
  std::string foreign_mark_, doubt_;
  std::optional<std::set<std::string>> foreign_marks_;  // at the last reading
  Counts counts_;
};

}  // namespace schedmate::live
