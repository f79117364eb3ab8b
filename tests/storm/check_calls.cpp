// SPDX-License-Identifier: Apache-2.0

/// What is checked while it happens: calls that leave, and what they do.

#include <algorithm>

#include "tests/storm/inspector.hpp"
#include "tests/storm/people.hpp"

namespace schedmate::storm {
namespace {

constexpr std::string_view own_mark = "schedmate:storm/";

bool reached(const Action& action, ActionState state) {
  return std::ranges::any_of(action.steps,
                             [&](const ActionStep& step) { return step.state == state; });
}

}  // namespace

/// Lifts what carries the own mark: that is cleaning up, not acting.
bool Inspector::takes_back(const Action& action) const {
  const bool lifts =
      action.call.kind == ActionKind::undrain_node || action.call.kind == ActionKind::release;
  return action.undoes != 0 || (lifts && action.call.text.starts_with(own_mark));
}

bool Inspector::approved(const Action& action) const {
  return std::ranges::any_of(action.steps, [&](const ActionStep& step) {
    return step.state == ActionState::approved &&
           std::ranges::any_of(book_.decisions, [&](const live::Decided& each) {
             return each.what == live::Decided::What::approve && each.action == action.id &&
                    each.by == step.by;
           });
  });
}

void Inspector::sending(Daemon& daemon, const Sent& sent) {
  if (daemon.journal().epoch() < site_.epoch)
    accuse("one_writer", fmt::format("daemon {} calls ({}) after another one has taken over",
                                     daemon.life(), text_of(sent.call)));
  check_repeat(sent);
  check_record(daemon, sent);
}

void Inspector::check_repeat(const Sent& sent) {
  const int before = sends_[sent.action]++;
  const ActionKind kind = sent.call.kind;
  const bool may = kind == ActionKind::set_order || kind == ActionKind::requeue_excluding ||
                   kind == ActionKind::submit;
  if (before > 0 && !may)
    accuse("ambiguous_stops",
           fmt::format("action {} ({}) is called a second time", sent.action, text_of(sent.call)));
}

void Inspector::check_record(Daemon& daemon, const Sent& sent) {
  const testing::DiskFaults faults = std::exchange(site_.disk.faults, {});
  const auto found = daemon.journal().action(sent.action);
  site_.disk.faults = faults;
  if (!found) return;
  if (!*found)
    return accuse("record_first", fmt::format("action {} ({}) is called and not on record",
                                              sent.action, text_of(sent.call)));
  const Action& action = **found;
  if (!reached(action, ActionState::intended) || !(action.call == sent.call))
    return accuse("record_first", fmt::format("action {} ({}) is called and not intended on record",
                                              sent.action, text_of(sent.call)));
  check_mode(daemon, sent, action);
  check_in_service(daemon, action);
}

/// A node that the daemon has read to be out of service, by whomever, is not drained.
void Inspector::check_in_service(const Daemon& daemon, const Action& action) {
  constexpr std::size_t at_once = 2;  // planned, intended
  if (action.call.kind != ActionKind::drain_node || action.steps.size() > at_once) return;
  if (!daemon.listing()) return;
  for (const SeenNode& node : daemon.listing()->nodes)
    if (node.name == action.call.nodes.front().node && node.state != NodeState::up)
      accuse("humans_win", fmt::format("action {} drains {}, which was out of service already "
                                       "(\"{}\")",
                                       action.id, node.name, node.reason));
}

void Inspector::check_mode(Daemon& daemon, const Sent& sent, const Action& action) {
  if (takes_back(action)) return;
  const Mode mode = daemon.modes().of(area_of(sent.call));
  if (mode == Mode::observe || mode == Mode::shadow)
    return accuse("obeys_modes", fmt::format("{} leaves the daemon in mode {}", text_of(sent.call),
                                             name_of(mode)));
  const bool needs = mode == Mode::approve || action.mode == Mode::approve;
  if (needs && !approved(action))
    accuse("obeys_modes",
           fmt::format("{} leaves the daemon unapproved in mode approve", text_of(sent.call)));
}

void Inspector::look() {
  while (effects_seen_ < book_.effects.size()) check_effect(book_.effects[effects_seen_++]);
}

void Inspector::check_effect(const Effect& effect) {
  if (!effect.effective) return;
  const ActionKind kind = effect.call.kind;
  if ((kind == ActionKind::undrain_node || kind == ActionKind::release) &&
      !effect.before.starts_with(own_mark))
    accuse("own_marks_only", fmt::format("{} lifts what a human has done (\"{}\")",
                                         text_of(effect.call), effect.before));
  if (effect.sent <= judged_from_) return;
  auto& calls = effective_[effect.action];
  calls.insert(effect.sent);
  if (calls.size() > 1 && kind != ActionKind::set_order)
    accuse("ambiguous_stops", fmt::format("two calls of action {} ({}) took effect", effect.action,
                                          text_of(effect.call)));
}

void Inspector::check_chain() {
  const auto verdict = journal::verify({"/j", site_.disk.vfs()});
  if (!verdict) return accuse("chain", "it cannot be read: " + verdict.error().message);
  if (verdict->fault)
    accuse("chain", fmt::format("entry {}: {}", verdict->fault->sequence, verdict->fault->what));
}

}  // namespace schedmate::storm
