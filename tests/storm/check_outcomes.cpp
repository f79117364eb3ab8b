// SPDX-License-Identifier: Apache-2.0

/// What came of actions, against what calls have done to the cluster.

#include <algorithm>

#include "tests/storm/inspector.hpp"

namespace schedmate::storm {
namespace {

bool was(const Action& action, ActionState state) {
  return std::ranges::any_of(action.steps,
                             [&](const ActionStep& step) { return step.state == state; });
}

/// What people do to the same thing.
std::string_view deed_like(ActionKind kind) {
  using enum ActionKind;
  switch (kind) {
    case set_order:
      return "order";
    case annotate:
      return "note";
    case drain_node:
    case undrain_node:
      return "drain";
    default:
      return "hold";
  }
}

}  // namespace

/// The first that changed anything; null: none did.
const Effect* Inspector::effect_of(std::int64_t action) const {
  const auto found = std::ranges::find_if(book_.effects, [&](const Effect& effect) {
    return effect.action == action && effect.effective;
  });
  return found == book_.effects.end() ? nullptr : &*found;
}

/// Whether somebody else changed the same thing in that time.
bool Inspector::touched(const Action& action, Millis from, Millis to) const {
  const std::string& subject =
      action.call.nodes.empty() ? action.call.job : action.call.nodes.front().node;
  const std::string_view like = deed_like(action.call.kind);
  const bool by_human = std::ranges::any_of(book_.deeds, [&](const Deed& deed) {
    const bool same = deed.what == like || deed.what == fmt::format("un{}", like) ||
                      (like == "hold" && deed.what == "release");
    return same && deed.subject == subject && from <= deed.when && deed.when <= to;
  });
  return by_human || std::ranges::any_of(book_.effects, [&](const Effect& effect) {
           return effect.effective && effect.action != action.id && from <= effect.when &&
                  effect.when <= to && targets_of(effect.call) == targets_of(action.call);
         });
}

/// What carries a mark or a token cannot be verified unless a call did it.
void Inspector::check_outcomes(const Records& records) {
  using enum ActionKind;
  for (const Action& action : records.actions) {
    const ActionKind kind = action.call.kind;
    const bool shows = kind == drain_node || kind == hold || kind == submit;
    if (shows && was(action, ActionState::verified) && effect_of(action.id) == nullptr)
      return accuse("reads_outcomes",
                    fmt::format("action {} ({}) is verified, and it never happened", action.id,
                                text_of(action.call)));
  }
}

void Inspector::check_undone(const Records& records) {
  for (const Action& undo : records.actions) {
    if (undo.undoes == 0 || !was(undo, ActionState::verified)) continue;
    const Action& undone = *records.find(undo.undoes);
    const Effect* const effect = effect_of(undo.id);
    if (effect == nullptr) continue;
    constexpr Millis around = 120'000;
    if (undone.state() != ActionState::undone &&
        !touched(undo, effect->when - around, effect->when + around))
      return accuse("undo", fmt::format("action {} took back action {}, which is {}", undo.id,
                                        undone.id, name_of(undone.state())));
    check_restored(undo, undone, *effect);
  }
}

/// An order or a note is as it was before, unless others changed it on the way.
void Inspector::check_restored(const Action& undo, const Action& undone, const Effect& effect) {
  const ActionKind kind = undo.call.kind;
  if (kind != ActionKind::set_order && kind != ActionKind::annotate) return;
  const Effect* const first = effect_of(undone.id);
  constexpr Millis around = 120'000;
  if (first == nullptr || touched(undone, first->when - around, effect.when)) return;
  const std::string now =
      kind == ActionKind::set_order ? fmt::format("{}", undo.call.order) : undo.call.text;
  if (now != first->before)
    accuse("undo", fmt::format("action {} makes \"{}\" of what was \"{}\" before action {}",
                               undo.id, now, first->before, undone.id));
}

/// A node that a human has put back is not drained again the same day, unless somebody approves.
void Inspector::check_lifted(const Records& records) {
  constexpr SimTime zero = at(1'000'000);
  constexpr Seconds jumps{300};
  for (const Deed& deed : book_.deeds) {
    if (deed.what != "undrain") continue;
    const auto lifted = std::ranges::find_if(records.actions, [&](const Action& action) {
      return action.call.kind == ActionKind::drain_node && deed.before == action.call.text;
    });
    if (lifted == records.actions.end()) continue;
    const SimTime when = zero + Seconds(deed.when / 1000);
    const bool stood = std::ranges::any_of(lifted->steps, [&](const ActionStep& step) {
      return step.state == ActionState::verified && step.when + jumps < when;
    });
    // Nobody can tell it from the call of an undo that was on its way.
    const bool undone = std::ranges::any_of(records.actions, [&](const Action& action) {
      return action.undoes == lifted->id && action.steps.front().when <= when + jumps &&
             was(action, ActionState::verified);
    });
    if (!stood || undone) continue;
    for (const Action& action : records.actions) {
      const bool again = action.call.kind == ActionKind::drain_node &&
                         action.call.nodes.front().node == deed.subject &&
                         action.steps.front().when > when + jumps;
      if (again && was(action, ActionState::intended) && !approved(action))
        return accuse("humans_win",
                      fmt::format("action {} drains {} again, which a human had put back",
                                  action.id, deed.subject));
    }
  }
}

}  // namespace schedmate::storm
