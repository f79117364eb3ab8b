// SPDX-License-Identifier: Apache-2.0
#include "live/actions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <nlohmann/json.hpp>
#include <utility>

namespace schedmate::live {
namespace {

using enum ActionState;

constexpr Seconds clocks_apart{120};

/// When it was about to be called.
SimTime intent_of(const Action& action) {
  const auto intent = std::ranges::find(action.steps, intended, &ActionStep::state);
  return intent == action.steps.end() ? action.steps.front().when : intent->when;
}

/// A test that could not begin, says that it could not be made, or was killed from outside says
/// nothing of its nodes.
bool has_run(const SeenJob& test) {
  constexpr std::array<std::int32_t, 3> codes = {75, 126, 127};  // EX_TEMPFAIL, and of the shell
  constexpr std::array<std::int32_t, 2> signals = {SIGKILL, SIGTERM};
  constexpr std::int32_t by_signal = 128;  // of the shell
  return std::ranges::find(codes, test.exit_code) == codes.end() &&
         std::ranges::find(signals, test.exit_signal) == signals.end() &&
         std::ranges::find(signals, test.exit_code - by_signal) == signals.end();
}

/// Of a submission: the job that it became; of a test: how it ended.
std::string shown_as(const ActionCall& call, const Reading& reading) {
  const bool is_job = call.kind == ActionKind::submit || call.kind == ActionKind::test_nodes;
  const SeenJob* const job = is_job ? reading.submitted_with(call.token) : nullptr;
  if (job == nullptr) return "";
  if (call.kind == ActionKind::submit) return "job " + job->id;
  using enum EndState;
  const EndState end = job->end_state;
  if (end == completed) return std::string(test_passed);
  const bool says = (end == failed && has_run(*job)) || end == node_fail;
  return fmt::format("{}: job {} ended as {}", says ? test_failed : "it says nothing", job->id,
                     to_string(end));
}

bool wants_witnesses(const ActionCall& call) {
  return call.kind == ActionKind::drain_node ||
         (call.kind == ActionKind::requeue_excluding && !call.nodes.empty());
}

}  // namespace

Actions::Actions(Settings settings, Restored restored)
    : settings_(std::move(settings)),
      next_id_(restored.next_id),
      doubt_(std::move(restored.doubt)) {
  restore_past(restored.past);
  for (Action& action : restored.open) {
    const std::int64_t id = action.id;
    if (is_in_flight(action.state()))
      for (const std::string& target : targets_of(action.call)) targets_[target] = id;
    const bool called = action.state() == intended || action.state() == ActionState::called ||
                        action.state() == ambiguous;
    if (called) calls_[id] = {1, CallReply{CallOutcome::unknown, "restarted", {}}, 0, restored.now};
    Action& kept = actions_[id] = std::move(action);
    if (kept.state() == intended)
      step(kept, {ActionState::called, restored.now, own_name, "the program was started again"});
    if (kept.state() == planned || kept.state() == approved) intend(kept, restored.now, own_name);
    if (kept.state() == waiting && is_outdated(kept))
      step(kept, {discarded, restored.now, own_name,
                  doubt_.empty() ? "the mode is another one now" : "the journal is in doubt"});
  }
}

/// Of one that waits: nothing leaves in the mode of now, or it is planned anew without waiting.
bool Actions::is_outdated(const Action& action) const {
  const Mode mode = mode_of(area_of(action.call));
  const ActionKind kind = action.call.kind;
  using enum ActionKind;
  const bool is_planned_once = kind == requeue_excluding || kind == annotate || kind == notify ||
                               kind == drain_node ||
                               (kind == test_nodes && action.call.text.empty());
  const bool waits_needlessly =
      mode == Mode::act && action.mode == Mode::approve && !is_planned_once;
  return settings_.rules.obeys_modes && (mode < Mode::approve || waits_needlessly);
}

const Action* Actions::find(std::int64_t id) const {
  const auto found = actions_.find(id);
  return found == actions_.end() ? nullptr : &found->second;
}
Action* Actions::find(std::int64_t id) {
  return const_cast<Action*>(std::as_const(*this).find(id));
}

const Action* Actions::action_on(const std::string& target) const {
  const auto found = targets_.find(target);
  return found == targets_.end() ? nullptr : find(found->second);
}

const Action* Actions::start_of(const std::string& job) const {
  const Action* const action = action_on("job " + job);
  return action != nullptr && action->call.kind == ActionKind::start ? action : nullptr;
}

bool Actions::busy(const ActionCall& call) const {
  return std::ranges::any_of(targets_of(call),
                             [&](const std::string& each) { return targets_.contains(each); });
}

std::optional<std::int64_t> Actions::propose(Proposal proposal, SimTime now) {
  const Rules& rules = settings_.rules;
  const auto not_now = [](std::int64_t& counter) {
    ++counter;
    return std::nullopt;
  };
  ++counts_.proposed;
  forget_past(now);
  const Mode mode = rules.obeys_modes ? mode_of(area_of(proposal.call)) : Mode::act;
  if (mode == Mode::observe) return not_now(counts_.observed);
  if (!is_fit(proposal.call)) return not_now(counts_.unfit);
  if (proposal.call.kind == ActionKind::drain_node) discard_test(proposal.call, now);
  if (busy(proposal.call)) return not_now(counts_.busy);
  const std::int64_t undoes = proposal.undoes;
  if (undoes != 0 && (find(undoes) == nullptr || find(undoes)->state() != verified))
    return not_now(counts_.busy);
  if (proposal.call.kind == ActionKind::drain_node) {
    const auto node = nodes_.find(proposal.call.nodes.front().node);
    if (node == nodes_.end() || (rules.humans_win && node->second.state != NodeState::up))
      return not_now(counts_.busy);
    proposal.before = node->second.reason;
  }
  if (rules.two_witnesses && wants_witnesses(proposal.call) && !has_witnesses(proposal, now))
    return not_now(counts_.unwitnessed);
  if (mode == Mode::shadow && is_on_record(proposal.call, now)) return not_now(counts_.busy);
  if (disturbs(proposal.call.kind) && !proposal.of_policy && mode != Mode::shadow) {
    count(proposal, now);
    if (rules.breaker && breaker_open()) return not_now(counts_.stopped);
  }
  return record(std::move(proposal), {mode, undoes, own_name, now});
}

/// A drain that only is recorded leaves its node up, and whoever speaks against that speaks on.
bool Actions::is_on_record(const ActionCall& call, SimTime now) {
  if (call.kind != ActionKind::drain_node) return false;
  constexpr Seconds again{3600};
  const auto [before, fresh] = shadow_drains_.try_emplace(call.nodes.front().node, now);
  if (!fresh && now - before->second < again) return true;
  before->second = now;
  return false;
}

/// A test that still waits for an operator is no reason not to drain.
void Actions::discard_test(const ActionCall& drain, SimTime now) {
  const Action* const test = action_on("node " + drain.nodes.front().node);
  if (test != nullptr && test->call.kind == ActionKind::test_nodes && test->state() == waiting)
    step(actions_.at(test->id), {discarded, now, own_name, "the node is to be drained"});
}

std::int64_t Actions::record(Proposal proposal, const Deciding& deciding) {
  const auto& [mode, undoes, by, now] = deciding;
  const std::string over = undoes == 0 && settings_.rules.caps ? over_cap(proposal) : "";
  const std::int64_t id = next_id_++;
  Action& action = actions_[id];
  action = {.id = id,
            .call = std::move(proposal.call),
            .why = std::move(proposal.why),
            .mode = mode,
            .before = std::move(proposal.before),
            .undoes = undoes,
            .steps = {{planned, now, by, ""}}};
  for (const NodeWitness& each : proposal.witnesses)
    action.why.push_back(fmt::format("{} of {}: {}", each.source, each.node, each.says));
  if (action.call.kind == ActionKind::drain_node || action.call.kind == ActionKind::hold) {
    const std::string reason = std::exchange(action.call.text, mark_of(settings_, id));
    if (!reason.empty() && action.call.kind == ActionKind::drain_node)
      action.call.text += " " + reason;
  }
  if (action.call.kind == ActionKind::test_nodes) action.call.token = mark_of(settings_, id);
  fresh_.insert(id);
  for (const std::string& target : targets_of(action.call)) targets_[target] = id;
  if (mode == Mode::shadow) {
    step(action, {shadowed, now, own_name, ""});
  } else if (mode == Mode::approve || !over.empty()) {
    if (!over.empty()) ++counts_.capped;
    step(action, {waiting, now, own_name, over.empty() ? "for approval" : over});
  } else {
    if (action.call.kind == ActionKind::requeue_excluding && !proposal.owner.empty())
      requeued_.push_back({now, proposal.owner});
    intend(action, now, by, !proposal.of_policy);
  }
  return id;
}

void Actions::intend(Action& action, SimTime now, const std::string& by, bool counts) {
  const std::int64_t id = action.id;
  if (counts && disturbs(action.call.kind)) {
    disturbed_.push_back(now);
    keep_past();
  }
  calls_[id] = {};
  due_.push_back(id);
  step(action, {intended, now, by, ""});
}

void Actions::step(Action& action, ActionStep next) {
  const ActionState state = next.state;
  const ActionStep& made = action.steps.emplace_back(std::move(next));
  if (!fresh_.contains(action.id)) record_.steps.push_back({action.id, made});
  if (is_in_flight(state)) return;
  for (const std::string& target : targets_of(action.call)) {
    const auto found = targets_.find(target);
    if (found != targets_.end() && found->second == action.id) targets_.erase(found);
  }
  calls_.erase(action.id);
  std::erase(due_, action.id);
  if (is_end(action.call.kind, state)) ended_.push_back(action);
}

/// The outcome, by way of `called`.
void Actions::come_out(Action& action, ActionState state, SimTime now, std::string_view note) {
  if (action.state() == intended) step(action, {called, now, own_name, ""});
  step(action, {state, now, own_name, std::string(note)});
  if (state == verified && action.undoes != 0)
    if (Action* const other = find(action.undoes); other != nullptr && other->state() == verified)
      step(*other, {undone, now, own_name, fmt::format("by action {}", action.id)});
}

ActionRecord Actions::take() {
  for (const std::int64_t id : fresh_) record_.actions.push_back(actions_.at(id));
  fresh_.clear();
  in_record_ = std::exchange(due_, {});
  for (const auto& [id, action] : actions_)
    if (is_end(action.call.kind, action.state())) over_in_record_.push_back(id);
  return std::exchange(record_, {});
}

std::vector<DueCall> Actions::recorded() {
  for (const std::int64_t id : std::exchange(over_in_record_, {})) actions_.erase(id);
  std::vector<DueCall> calls;
  for (const std::int64_t id : std::exchange(in_record_, {})) {
    const auto call = calls_.find(id);
    if (call == calls_.end()) continue;
    ++call->second.made;
    call->second.reply.reset();
    calls.push_back({id, actions_.at(id).call});
  }
  return calls;
}

std::vector<Action> Actions::take_ended() { return std::exchange(ended_, {}); }

// Outcomes ---------------------------------------------------------------------------------------

void Actions::returned(std::int64_t id, const CallReply& reply, std::uint64_t reading,
                       SimTime now) {
  const auto found = calls_.find(id);
  if (found == calls_.end()) return;     // it was seen already
  constexpr std::size_t longest = 1000;  // of what a cluster says
  found->second.reply = reply;
  found->second.reply->text.resize(std::min(reply.text.size(), longest));
  found->second.reading = reading;
  found->second.since = now;
  Action& action = actions_.at(id);
  if (action.state() == intended) step(action, {called, now, own_name, found->second.reply->text});
  if (!settings_.rules.reads_outcomes) return judge_reply(action, now);
  if (!settings_.rules.ambiguous_stops && reply.outcome == CallOutcome::unknown) due_.push_back(id);
}

void Actions::see(const Listing& listing) {
  nodes_.clear();
  for (const SeenNode& node : listing.nodes) nodes_[node.name] = node;
}

void Actions::read(const Reading& reading, std::uint64_t number, SimTime now) {
  look_for_others(reading.listing(), now);
  see(reading.listing());
  std::vector<std::int64_t> ids;
  for (const auto& [id, action] : actions_) ids.push_back(id);
  for (const std::int64_t id : ids)
    if (calls_.contains(id)) judge(actions_.at(id), reading, number, now);
  for (const std::int64_t id : ids)  // after undos have come out
    if (Action& action = actions_.at(id);
        action.state() == verified && can_be_undone(action.call.kind) && !calls_.contains(id))
      watch(action, reading, now);
  free_orphans(reading, now);
  read_at_ = reading.listing().now;
}

void Actions::judge(Action& action, const Reading& reading, std::uint64_t number, SimTime now) {
  Call& call = calls_.at(action.id);
  if (call.made == 0) return;
  switch (shown(action, reading, settings_)) {
    case Shown::yes:
      return come_out(action, verified, now, shown_as(action.call, reading));
    case Shown::other:
      return come_out(action, superseded, now, "its target has changed or is gone");
    case Shown::silent:
      if (call.reply) judge_reply(action, now);
      return;
    case Shown::begun:
      if (call.reply && now - call.since >= settings_.waits.test)
        come_out(action, failed, now, "the test does not come to its end");
      return;
    case Shown::no:
      if (call.reply && number > call.reading) judge_absent(action, call, reading, now);
  }
}

/// Where only the call's answer tells.
void Actions::judge_reply(Action& action, SimTime now) {
  const Call& call = calls_.at(action.id);
  switch (call.reply->outcome) {
    case CallOutcome::done:
      return come_out(action, verified, now, call.reply->text);
    case CallOutcome::refused:
      return come_out(action, failed, now, call.reply->text);
    case CallOutcome::unknown:
      if (action.state() == called) step(action, {ambiguous, now, own_name, call.reply->text});
      if (now - calls_.at(action.id).since >= settings_.waits.outcome)
        come_out(action, failed, now, "nobody knows whether it happened; it is not repeated");
  }
}

void Actions::judge_absent(Action& action, Call& call, const Reading& reading, SimTime now) {
  if (call.reply->outcome == CallOutcome::refused)
    return come_out(action, failed, now, call.reply->text);
  if (call.reply->outcome == CallOutcome::unknown && action.state() == called)
    step(action, {ambiguous, now, own_name, call.reply->text});
  const Look look = look_for_submission(action, call.since, reading.listing());
  if (look == Look::too_early) return;
  if (look == Look::absent && may_call_again(action, call, now)) {
    due_.push_back(action.id);
    call.reply.reset();  // it is on its way again: until it comes back nothing is judged
    return;
  }
  if (now - call.since >= settings_.waits.outcome)
    come_out(action, failed, now, "the cluster does not show it");
}

/// A submission is repeated on a reading that was surely made after its last call and would show
/// the job, had it ended at once.
Actions::Look Actions::look_for_submission(const Action& action, SimTime called,
                                           const Listing& listing) {
  if (action.call.kind != ActionKind::submit) return Look::absent;
  if (listing.now < called + clocks_apart) return Look::too_early;
  return listing.ended_since + clocks_apart <= intent_of(action) ? Look::absent : Look::forgotten;
}

SimTime Actions::next_due() const {
  SimTime next = never;
  for (const auto& [id, call] : calls_) {
    if (!call.reply) continue;
    const Action& action = actions_.at(id);
    const bool submits = action.call.kind == ActionKind::submit;
    const SimTime due = call.since + (submits ? std::max(settings_.waits.outcome, clocks_apart)
                                              : settings_.waits.outcome);
    next = std::min(next, due);
  }
  return next;
}

SimTime Actions::looks_back_to() const {
  SimTime first = never;
  for (const auto& [id, call] : calls_)
    if (const Action& action = actions_.at(id); !action.call.token.empty() && call.reply)
      first = std::min(first, intent_of(action) - clocks_apart);
  return first;
}

bool Actions::may_call_again(const Action& action, const Call& call, SimTime now) const {
  constexpr int most_calls = 3;
  if (call.made >= most_calls || !doubt_.empty()) return false;
  // The mode may be another one than when it was decided.
  const Mode mode = mode_of(area_of(action.call));
  const bool approved_once = std::ranges::any_of(
      action.steps, [](const ActionStep& step) { return step.state == approved; });
  const bool may = mode == Mode::act || (mode == Mode::approve && approved_once);
  if (settings_.rules.obeys_modes && action.undoes == 0 && !may) return false;
  if (is_idempotent(action.call.kind)) return true;
  return repeats_after_reading(action.call.kind) && now - call.since >= settings_.waits.outcome;
}

/// A controller that is killed loses what it has not saved: some seconds. What was there since it
/// began was not lost; nodes may have been read a little earlier than the jobs beside them.
bool Actions::is_forgotten(const Action& action, const Listing& listing) const {
  constexpr Seconds unsaved{60}, apart{3};
  const SimTime stood = action.steps.back().when;
  return action.call.kind == ActionKind::drain_node && listing.began && stood <= *listing.began &&
         *listing.began - stood <= unsaved && (!read_at_ || *read_at_ <= *listing.began + apart);
}

std::vector<Action> Actions::take_forgotten() { return std::exchange(forgotten_, {}); }

/// Of a verified one: is its effect still there?
void Actions::watch(Action& action, const Reading& reading, SimTime now) {
  const auto undoes_it = [&](const auto& each) {
    return each.second.undoes == action.id && is_in_flight(each.second.state());
  };
  if (std::ranges::any_of(actions_, undoes_it)) return;  // what comes of that tells
  if (!still_stands(action, reading, settings_)) {
    if (is_forgotten(action, reading.listing())) {
      forgotten_.push_back(action);
      return step(action, {superseded, now, own_name, "the cluster was restarted and forgot it"});
    }
    if (action.call.kind == ActionKind::drain_node) {
      lifted_[action.call.nodes.front().node] = now;
      keep_past();
    }
    return step(action, {superseded, now, own_name, "somebody else changed it, or it is gone"});
  }
  const bool too_long = action.call.kind == ActionKind::hold && settings_.rules.fail_open &&
                        doubt_.empty() && now - action.steps.back().when >= settings_.waits.hold;
  if (too_long && !busy(action.call)) (void)undo(action.id, own_name, now);
}

/// The mark of an action that has ended otherwise: its call arrived late.
bool Actions::is_own_orphan(std::string_view text) const {
  const auto id = marked_by(settings_, text);
  return id && *id < next_id_ && find(*id) == nullptr;
}

void Actions::free_orphans(const Reading& reading, SimTime now) {
  if (!settings_.rules.fail_open || !doubt_.empty()) return;
  const std::vector<std::string> why{"it carries the mark of an action that came to nothing"};
  for (const SeenNode& node : reading.listing().nodes) {
    if (node.state == NodeState::up || !is_own_orphan(node.reason)) continue;
    ActionCall call{.kind = ActionKind::undrain_node, .nodes = {{node.name, {}}}};
    call.text = node.reason.substr(0, node.reason.find(' '));
    if (!busy(call)) record({std::move(call), why, {}, node.reason}, {Mode::act, 0, own_name, now});
  }
  for (const SeenJob& job : reading.listing().jobs) {
    if (!job.held || job.phase != JobPhase::queued || !is_own_orphan(job.mark)) continue;
    ActionCall call{.kind = ActionKind::release, .job = job.id, .submitted = job.submitted};
    call.text = job.mark.substr(0, job.mark.find(' '));
    if (!busy(call)) record({std::move(call), why, {}, job.mark}, {Mode::act, 0, own_name, now});
  }
}

}  // namespace schedmate::live
