// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <schedmate/action.hpp>

namespace schedmate {
namespace {

constexpr std::array<std::string_view, action_kinds> kind_names = {
    "set_order",  "hold",         "release",       "start",      "evict",  "requeue_excluding",
    "drain_node", "undrain_node", "release_spare", "test_nodes", "cancel", "submit",
    "annotate",   "notify"};
constexpr std::array<std::string_view, 4> mode_names = {"observe", "shadow", "approve", "act"};
constexpr std::array<std::string_view, action_states> state_names = {
    "planned",  "shadowed", "waiting",  "approved", "rejected",  "expired",    "discarded",
    "intended", "called",   "verified", "failed",   "ambiguous", "superseded", "undone"};

template <class Value, std::size_t size>
std::optional<Value> value_named(const std::array<std::string_view, size>& names,
                                 std::string_view name) {
  const auto* const found = std::ranges::find(names, name);
  if (found == names.end()) return std::nullopt;
  return static_cast<Value>(found - names.begin());
}

}  // namespace

std::string_view name_of(ActionKind kind) { return kind_names.at(static_cast<std::size_t>(kind)); }
std::optional<ActionKind> action_kind_of(std::string_view name) {
  return value_named<ActionKind>(kind_names, name);
}

std::string_view name_of(Mode mode) { return mode_names.at(static_cast<std::size_t>(mode)); }
std::optional<Mode> mode_of(std::string_view name) { return value_named<Mode>(mode_names, name); }

std::string_view name_of(ActionState state) {
  return state_names.at(static_cast<std::size_t>(state));
}
std::optional<ActionState> action_state_of(std::string_view name) {
  return value_named<ActionState>(state_names, name);
}

bool may_follow(ActionKind kind, ActionState from, ActionState to) {
  using enum ActionState;
  const auto one_of = [to](auto... states) { return ((to == states) || ...); };
  switch (from) {
    case planned:
      return one_of(shadowed, waiting, intended);
    case waiting:
      return one_of(approved, rejected, expired, discarded);
    case approved:
      return one_of(intended);
    case intended:
      return one_of(called);
    case called:
      return one_of(verified, failed, ambiguous, superseded);
    case ambiguous:
      return one_of(verified, failed, superseded);
    case verified:  // superseded: somebody lifted the drain, the job that was held is gone
      return can_be_undone(kind) && one_of(undone, superseded);
    case shadowed:
    case rejected:
    case expired:
    case discarded:
    case failed:
    case superseded:
    case undone:
      return false;
  }
  return false;
}

bool is_end(ActionKind kind, ActionState state) {
  return !is_in_flight(state) && (state != ActionState::verified || !can_be_undone(kind));
}

bool is_in_flight(ActionState state) {
  using enum ActionState;
  constexpr std::array open = {planned, waiting, approved, intended, called, ambiguous};
  return std::ranges::find(open, state) != open.end();
}

bool can_be_undone(ActionKind kind) {
  using enum ActionKind;
  return kind == set_order || kind == hold || kind == drain_node || kind == annotate;
}

bool is_idempotent(ActionKind kind) { return kind == ActionKind::set_order; }

bool repeats_after_reading(ActionKind kind) {
  return kind == ActionKind::requeue_excluding || kind == ActionKind::submit;
}

std::vector<std::string> targets_of(const ActionCall& call) {
  using enum ActionKind;
  std::vector<std::string> targets;
  switch (call.kind) {
    case set_order:
      return {"order " + call.job};
    case hold:
    case release:
    case start:
    case evict:
    case requeue_excluding:
    case cancel:
      return {"job " + call.job};
    case annotate:
      return {"note " + call.job};
    case submit:
      return {"submission " + call.token};
    case drain_node:
    case undrain_node:
    case release_spare:
    case test_nodes:
      for (const NodeGpus& each : call.nodes) targets.push_back("node " + each.node);
      return targets;
    case notify:
      return {};
  }
  return {};
}

bool carries_mark(std::string_view text, std::string_view mark) {
  return !mark.empty() && text.starts_with(mark) &&
         (text.size() == mark.size() || text[mark.size()] == ' ');
}

bool may_become(const Action& action, ActionState next) {
  using enum ActionState;
  const ActionState from = action.state();
  if (!may_follow(action.call.kind, from, next)) return false;
  switch (action.mode) {
    case Mode::observe:
      return false;
    case Mode::shadow:
      return next == shadowed;
    case Mode::approve:
      return next != shadowed && (from != planned || next == waiting);
    case Mode::act:
      return next != shadowed;
  }
  return false;
}

}  // namespace schedmate
