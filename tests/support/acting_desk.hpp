// SPDX-License-Identifier: Apache-2.0
#pragma once

/// live::Actions between a journal in memory and a cluster, one turn after the other: what is
/// recorded is held against the ladder of docs/actions.md, each call is made once its record is
/// safe, and the cluster is read.

#include <doctest/doctest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "live/actions.hpp"
#include "tests/support/made_site.hpp"

namespace schedmate::testing {

class ActingDesk {
 public:
  using Fate = MadeSite::Fate;

  explicit ActingDesk(int nodes, live::Settings settings = all_act())
      : site(nodes), settings_(std::move(settings)), actions_(settings_, {}) {
    read();
  }

  /// Every area in that mode.
  static live::Settings all_in(Mode mode) {
    live::Settings made;
    made.instance = "here";
    made.modes = {mode, mode, mode, mode, mode};
    return made;
  }
  static live::Settings all_act() { return all_in(Mode::act); }
  /// With a rule of acting switched off.
  static live::Settings without(bool live::Rules::* rule, live::Settings settings = all_act()) {
    settings.rules.*rule = false;
    return settings;
  }

  MadeSite site;  // the test plays the world

  std::optional<std::int64_t> propose(live::Proposal proposal) {
    const auto id = actions_.propose(std::move(proposal), now());
    record();
    return id;
  }
  /// Calls are made, and their effect read.
  void turn() {
    record();
    for (const live::DueCall& due : std::exchange(due_, {}))
      actions_.returned(due.action, site.call(due.call, Connector::Deadline(1)), readings_, now());
    read();
  }
  void read() {
    const auto listing = site.list(SimTime::min(), Connector::Deadline(1));
    if (listing) actions_.read(live::Reading(*listing), ++readings_, now());
    record();
  }
  /// Time passes without a reading.
  void pass(Seconds time) {
    site.pass(time);
    actions_.tick(now());
    record();
  }
  /// A new process, which has what the journal holds.
  void restart() {
    live::Actions::Restored left{
        .open = {}, .next_id = last_ + 1, .past = past_, .now = now(), .doubt = doubt_};
    for (const auto& [id, action] : book_)
      if (!is_end(action.call.kind, action.state())) left.open.push_back(action);
    due_.clear();
    actions_ = live::Actions(settings_, std::move(left));
    record();
  }
  void restart(live::Settings settings) {
    settings_ = std::move(settings);
    restart();
  }
  /// Whose journal is not what was on record.
  void restart_in_doubt(std::string doubt) {
    doubt_ = std::move(doubt);
    restart();
  }
  Result<void> approve(std::int64_t id) { return kept(actions_.approve(id, "olga", now())); }
  Result<void> reject(std::int64_t id) { return kept(actions_.reject(id, "olga", now())); }
  Result<std::int64_t> undo(std::int64_t id) { return kept(actions_.undo(id, "olga", now())); }
  void close_breaker() {
    actions_.close_breaker("olga", now());
    record();
  }

  [[nodiscard]] const Action& action(std::int64_t id) const { return book_.at(id); }
  [[nodiscard]] ActionState state(std::int64_t id) const { return book_.at(id).state(); }
  /// "planned intended called verified".
  [[nodiscard]] std::string way(std::int64_t id) const {
    std::string words;
    for (const ActionStep& step : book_.at(id).steps)
      words += (words.empty() ? "" : " ") + std::string(name_of(step.state));
    return words;
  }
  [[nodiscard]] std::size_t known() const { return book_.size(); }
  [[nodiscard]] const std::vector<live::ActionRecord::Remark>& remarks() const { return remarks_; }
  [[nodiscard]] const live::Actions& actions() const { return actions_; }
  [[nodiscard]] SimTime now() const { return site.now(); }

 private:
  template <class Value>
  Result<Value> kept(Result<Value> result) {
    record();
    return result;
  }
  void record() {
    live::ActionRecord record = actions_.take();
    for (auto& [id, step] : record.steps) add(book_.at(id), std::move(step));
    for (Action& each : record.actions) {
      Action whole = each;
      whole.steps.resize(1);
      for (std::size_t i = 1; i < each.steps.size(); ++i) add(whole, each.steps[i]);
      last_ = std::max(last_, each.id);
      book_[each.id] = std::move(whole);
    }
    for (auto& remark : record.remarks) remarks_.push_back(std::move(remark));
    if (record.past) past_ = *record.past;
    if (record.agreed) doubt_.clear();
    std::ranges::move(actions_.recorded(), std::back_inserter(due_));
  }
  static void add(Action& action, ActionStep step) {
    INFO("action " << action.id << ": " << name_of(action.state()) << " to "
                   << name_of(step.state));
    CHECK(may_become(action, step.state));
    action.steps.push_back(std::move(step));
  }

  live::Settings settings_;
  live::Actions actions_;
  std::map<std::int64_t, Action> book_;  // what the journal holds
  std::vector<live::ActionRecord::Remark> remarks_;
  std::vector<live::DueCall> due_;  // recorded, not called yet
  std::string past_, doubt_;
  std::int64_t last_ = 0;
  std::uint64_t readings_ = 0;
};

inline ActionCall order_of(const SeenJob& job, std::int64_t order) {
  ActionCall call{.kind = ActionKind::set_order, .job = job.id, .submitted = job.submitted};
  call.restarts = job.restarts;
  call.order = order;
  return call;
}
inline ActionCall call_of(ActionKind kind, const SeenJob& job, std::string text = "") {
  ActionCall call{.kind = kind, .job = job.id, .submitted = job.submitted};
  call.restarts = job.restarts;
  call.text = std::move(text);
  return call;
}
inline ActionCall drain_of(const std::string& node, std::string why = "Xid 79") {
  ActionCall call{.kind = ActionKind::drain_node, .nodes = {{node, {}}}};
  call.text = std::move(why);
  return call;
}
/// A drain with two witnesses.
inline live::Proposal sure_drain(const std::string& node, SimTime now) {
  return {.call = drain_of(node),
          .why = {"the node lost a GPU"},
          .witnesses = {{"kernel", node, now, "Xid 79"}, {"gpu", node, now, "a GPU is gone"}}};
}

}  // namespace schedmate::testing
