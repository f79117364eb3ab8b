// SPDX-License-Identifier: Apache-2.0
/// What people decide: their requests, approvals, and what takes an action back.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "live/actions.hpp"

namespace schedmate::live {
namespace {

/// What a person can do where no call takes back the effect.
std::string_view instead_of_undo(ActionKind kind) {
  switch (kind) {
    case ActionKind::requeue_excluding:
    case ActionKind::submit:
    case ActionKind::start:
      return "cancel the job instead";
    case ActionKind::cancel:
      return "submit the job again instead";
    case ActionKind::evict:
      return "the job waits, and starts again by itself";
    case ActionKind::release:
      return "hold the job with the cluster's own tools instead";
    case ActionKind::undrain_node:
      return "drain the node with the cluster's own tools instead";
    case ActionKind::release_spare:
      return "the policy asks for the node again when it needs one";
    case ActionKind::test_nodes:
      return "cancel the job that tests instead";
    default:
      return "it was told";
  }
}

Error in_doubt(const std::string& doubt) {
  return {ErrorCode::conflict,
          fmt::format("the journal is not what was on record ({}): nothing is called until an "
                      "operator closes the breaker",
                      doubt)};
}

}  // namespace

Result<ActionCall> undoing(const Action& action) {
  ActionCall call = action.call;
  switch (action.call.kind) {
    case ActionKind::drain_node:
      call.kind = ActionKind::undrain_node;
      call.text = action.call.text.substr(0, action.call.text.find(' '));
      return call;
    case ActionKind::hold:
      call.kind = ActionKind::release;
      call.text = action.call.text.substr(0, action.call.text.find(' '));
      return call;
    case ActionKind::set_order:
      call.order = std::strtoll(action.before.c_str(), nullptr, 10);
      return call;
    case ActionKind::annotate:
      call.text = action.before;
      return call;
    default:
      return fail(ErrorCode::conflict, fmt::format("{} cannot be undone; {}", name_of(call.kind),
                                                   instead_of_undo(call.kind)));
  }
}

Result<std::int64_t> Actions::request(ActionCall call, const std::string& by, SimTime now) {
  const Mode mode = mode_of(area_of(call));
  if (!doubt_.empty()) return tl::unexpected(in_doubt(doubt_));
  if (mode != Mode::act && foreign_since_)
    return fail(ErrorCode::conflict,
                fmt::format("another instance acts on this cluster (\"{}\"): nothing is called "
                            "until an operator closes the breaker",
                            foreign_mark_));
  if (mode != Mode::act)
    return fail(ErrorCode::conflict,
                fmt::format("setting mode.order is {}: jobs are submitted and cancelled where "
                            "SchedMate starts them; with act it does",
                            name_of(mode)));
  if (busy(call))
    return fail(ErrorCode::conflict,
                "another action for the same target is on its way; ask again in a moment");
  Proposal proposal{.call = std::move(call)};
  proposal.of_policy = true;
  return record(std::move(proposal), {mode, 0, by, now});
}

Result<void> Actions::approve(std::int64_t id, const std::string& by, SimTime now) {
  Action* const action = find(id);
  if (!doubt_.empty()) return tl::unexpected(in_doubt(doubt_));
  if (action == nullptr) return fail(ErrorCode::not_found, fmt::format("no open action {}", id));
  if (action->state() != ActionState::waiting)
    return fail(ErrorCode::conflict,
                fmt::format("action {} is {}: only what is waiting can be approved", id,
                            name_of(action->state())));
  if (const Mode mode = mode_of(area_of(action->call));
      settings_.rules.obeys_modes && (mode == Mode::observe || mode == Mode::shadow))
    return fail(ErrorCode::conflict,
                fmt::format("nothing leaves the program in mode {}; action {} can be rejected",
                            name_of(mode), id));
  step(*action, {ActionState::approved, now, by, ""});
  intend(*action, now, by);
  return {};
}

Result<void> Actions::reject(std::int64_t id, const std::string& by, SimTime now) {
  Action* const action = find(id);
  if (action == nullptr) return fail(ErrorCode::not_found, fmt::format("no open action {}", id));
  if (action->state() != ActionState::waiting)
    return fail(ErrorCode::conflict,
                fmt::format("action {} is {}: only what is waiting can be rejected", id,
                            name_of(action->state())));
  step(*action, {ActionState::rejected, now, by, ""});
  return {};
}

Result<std::int64_t> Actions::undo(std::int64_t id, const std::string& by, SimTime now) {
  const Action* const action = find(id);
  if (!doubt_.empty()) return tl::unexpected(in_doubt(doubt_));
  if (action == nullptr)
    return fail(ErrorCode::not_found, fmt::format("no action {} that could be undone", id));
  auto call = undoing(*action);
  if (!call) return tl::unexpected(call.error());
  if (action->state() != ActionState::verified)
    return fail(ErrorCode::conflict,
                fmt::format("action {} is {}: only what is verified can be undone", id,
                            name_of(action->state())));
  const std::string before = action->call.kind == ActionKind::set_order
                                 ? std::to_string(action->call.order)
                                 : action->call.text;
  if (!settings_.rules.own_marks_only) call->text.clear();
  if (busy(*call))
    return fail(ErrorCode::conflict, "another action for the same target is on its way");
  return record({std::move(*call), {fmt::format("undoes action {}", id)}, {}, before},
                {Mode::act, id, by, now});
}

}  // namespace schedmate::live
