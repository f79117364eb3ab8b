// SPDX-License-Identifier: Apache-2.0
/// Witnesses, caps and the breaker.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/document.hpp"
#include "live/actions.hpp"

namespace schedmate::live {
using enum ActionState;

/// Nodes come one by one, and what others have marked is not lifted.
bool Actions::is_fit(const ActionCall& call) const {
  const bool lifts = call.kind == ActionKind::undrain_node || call.kind == ActionKind::release;
  if (lifts && settings_.rules.own_marks_only && !marked_by(settings_, call.text)) return false;
  const bool of_node = call.kind == ActionKind::undrain_node || call.kind == ActionKind::drain_node;
  if (call.kind == ActionKind::test_nodes && !settings_.can_test) return false;
  return !of_node || call.nodes.size() == 1;
}

/// A job may be sent elsewhere for less than what a node is drained for.
bool Actions::has_witnesses(const Proposal& proposal, SimTime now) const {
  std::vector<NodeWitness> fresh;
  std::ranges::copy_if(proposal.witnesses, std::back_inserter(fresh), [&](const NodeWitness& each) {
    return now - each.when <= settings_.waits.witness_age;
  });
  if (proposal.call.kind != ActionKind::drain_node)
    for (NodeWitness& each : fresh) each.may_pass = each.may_be_harmless = false;
  return std::ranges::all_of(proposal.call.nodes,
                             [&](const NodeGpus& node) { return are_two(fresh, node.node); });
}

std::int64_t Actions::share_of_nodes(std::int64_t pct, std::int64_t least) const {
  return std::max(least, (std::ssize(nodes_) * pct + 99) / 100);
}

/// In words; "": within all caps.
std::string Actions::over_cap(const Proposal& proposal) const {
  const Caps& caps = settings_.caps;
  const ActionCall& call = proposal.call;
  if (!disturbs(call.kind) || proposal.of_policy) return {};
  if (std::ssize(disturbed_) >= caps.actions_per_hour)
    return fmt::format("over the cap of {} actions an hour", caps.actions_per_hour);
  if (call.kind == ActionKind::requeue_excluding && call.restarts >= caps.requeues_per_job)
    return fmt::format("over the cap of {} requeues of a job", caps.requeues_per_job);
  if (call.kind == ActionKind::requeue_excluding &&
      std::ranges::count(requeued_, proposal.owner, &Requeue::owner) >= caps.requeues_per_user_hour)
    return fmt::format("over the cap of {} requeues of one user an hour",
                       caps.requeues_per_user_hour);
  if (call.kind != ActionKind::drain_node) return {};
  if (lifted_.contains(call.nodes.front().node))
    return "somebody put this node back into service since SchedMate drained it";
  const std::int64_t most =
      std::min(caps.drained_nodes_max, share_of_nodes(caps.drained_pct_max, 1));
  std::int64_t out = 0;
  for (const auto& [id, action] : actions_)
    out += action.call.kind == ActionKind::drain_node && action.state() != waiting &&
                   (is_in_flight(action.state()) || action.state() == verified)
               ? 1
               : 0;
  return out >= most ? fmt::format("over the cap of {} drained nodes", most) : "";
}

/// What opens the breaker: too many bad nodes, or too much at once.
void Actions::count(const Proposal& proposal, SimTime now) {
  if (proposal.call.kind == ActionKind::drain_node)
    bad_.emplace_back(now, proposal.call.nodes.front().node);
  constexpr Seconds minute{60};
  burst_.push_back(now);
  while (now - burst_.front() >= minute) burst_.pop_front();
  std::set<std::string_view> nodes;
  for (const auto& [when, node] : bad_) nodes.insert(node);
  for (const auto& [id, action] : actions_)
    if (action.call.kind == ActionKind::drain_node && action.state() == verified)
      nodes.insert(action.call.nodes.front().node);
  constexpr std::int64_t least = 3;
  const std::int64_t most = share_of_nodes(settings_.caps.breaker_pct, least);
  if (breaker_since_)
    breaker_since_ = now;  // not quiet
  else if (std::ssize(nodes) >= most)
    open_breaker(now, fmt::format("{} nodes are said to be bad", nodes.size()));
  else if (std::ssize(burst_) > settings_.caps.burst)
    open_breaker(now, fmt::format("{} proposals within a minute", burst_.size()));
  keep_past();
}

void Actions::open_breaker(SimTime now, const std::string& why) {
  if (!settings_.rules.breaker) return;
  breaker_since_ = now;
  record_.remarks.push_back({"breaker opened", own_name, why});
  keep_past();
  discard_waiting(now, why);
  tell_chief(now, fmt::format("SchedMate acts no more on {}: {}. What waited is discarded. Look at "
                              "`schedmate actions` and close the breaker when that is settled; it "
                              "closes by itself after {} quiet seconds.",
                              settings_.cluster, why, settings_.waits.breaker_quiet.count()));
}

/// One message.
void Actions::tell_chief(SimTime now, std::string text) {
  const Mode mode = mode_of(Area::notify);
  if (settings_.chief.empty() || mode == Mode::observe) return;
  ActionCall call{.kind = ActionKind::notify};
  call.user = settings_.chief;
  call.text = std::move(text);
  record({.call = std::move(call), .why = {"the breaker has opened"}}, {mode, 0, own_name, now});
}

void Actions::discard_waiting(SimTime now, const std::string& why) {
  std::vector<std::int64_t> ids;
  for (const auto& [id, action] : actions_)
    if (action.state() == waiting) ids.push_back(id);
  for (const std::int64_t id : ids) step(actions_.at(id), {discarded, now, own_name, why});
}

void Actions::close_breaker(const std::string& by, SimTime now) {
  if (!doubt_.empty() && by != own_name) {
    record_.remarks.push_back({"acting again", by, "in spite of: " + doubt_});
    record_.agreed = std::exchange(doubt_, {});
  }
  if (foreign_since_) {
    foreign_since_.reset();
    foreign_mark_.clear();
    record_.remarks.push_back({"acting again", by, ""});
    keep_past();
  }
  if (!breaker_since_) return;
  breaker_since_.reset();
  bad_.clear();
  burst_.clear();
  record_.remarks.push_back({"breaker closed", by, ""});
  forget_past(now);
  keep_past();
}

void Actions::tick(SimTime now) {
  forget_past(now);
  const auto is_quiet = [&](const std::optional<SimTime>& since) {
    return !since || now - *since >= settings_.waits.breaker_quiet;
  };
  if ((breaker_since_ || foreign_since_) && is_quiet(breaker_since_) && is_quiet(foreign_since_))
    close_breaker(own_name, now);
  std::vector<std::int64_t> late;
  for (const auto& [id, action] : actions_)
    if (action.state() == waiting && now - action.steps.back().when >= settings_.waits.approval)
      late.push_back(id);
  for (const std::int64_t id : late)
    step(actions_.at(id), {expired, now, own_name, "nobody decided in time"});
}

void Actions::forget_past(SimTime now) {
  constexpr Seconds hour{3600};
  while (!disturbed_.empty() && now - disturbed_.front() >= hour) disturbed_.pop_front();
  while (!requeued_.empty() && now - requeued_.front().when >= hour) requeued_.pop_front();
  while (!bad_.empty() && now - bad_.front().first >= hour) bad_.pop_front();
  std::erase_if(lifted_, [&](const auto& each) { return now - each.second >= 24 * hour; });
}

void Actions::keep_past() {
  Document past{{"disturbed_s", Document::array()},
                {"bad", Document::array()},
                {"requeued", Document::array()},
                {"lifted", Document::object()}};
  for (const SimTime when : disturbed_) past["disturbed_s"].push_back(seconds_of(when));
  for (const auto& [when, node] : bad_)
    past["bad"].push_back({{"s", seconds_of(when)}, {"node", node}});
  for (const auto& [when, owner] : requeued_)
    past["requeued"].push_back({{"s", seconds_of(when)}, {"owner", owner}});
  for (const auto& [node, when] : lifted_) past["lifted"][node] = seconds_of(when);
  if (breaker_since_) past["breaker_since_s"] = seconds_of(*breaker_since_);
  if (foreign_since_)
    past["foreign"] = {{"s", seconds_of(*foreign_since_)}, {"mark", foreign_mark_}};
  record_.past = past.dump(-1, ' ', false, Document::error_handler_t::replace);
}

/// What is not as keep_past() writes it is left out.
void Actions::restore_past(std::string_view text) {
  const auto past = Document::parse(text, nullptr, false);
  const Document &disturbed = part(past, "disturbed_s"), &bad = part(past, "bad"),
                 &requeued = part(past, "requeued"), &lifted = part(past, "lifted"),
                 &open = part(past, "breaker_since_s"), &foreign = part(past, "foreign"),
                 &foreign_s = part(foreign, "s"), &mark = part(foreign, "mark");
  const auto instant = [](const Document& value) { return at(value.get<std::int64_t>()); };
  for (const auto& each : disturbed)
    if (each.is_number_integer()) disturbed_.push_back(instant(each));
  for (const auto& each : bad) {
    const Document &when = part(each, "s"), &node = part(each, "node");
    if (when.is_number_integer() && node.is_string()) bad_.emplace_back(instant(when), node);
  }
  for (const auto& each : requeued) {
    const Document &when = part(each, "s"), &owner = part(each, "owner");
    if (when.is_number_integer() && owner.is_string()) requeued_.push_back({instant(when), owner});
  }
  for (const auto& [node, when] : lifted.items())
    if (when.is_number_integer()) lifted_[node] = instant(when);
  if (open.is_number_integer()) breaker_since_ = instant(open);
  if (foreign_s.is_number_integer() && mark.is_string()) {
    foreign_since_ = instant(foreign_s);
    foreign_mark_ = mark;
  }
}

}  // namespace schedmate::live
