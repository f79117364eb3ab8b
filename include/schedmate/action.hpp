// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What SchedMate does to a cluster, from the plan to the outcome. An action is recorded before it
/// is carried out, and its outcome is what the cluster shows when it is read again (no record, no
/// action; docs/actions.md). Values only.

#include <cstdint>
#include <optional>
#include <schedmate/time.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace schedmate {

enum class ActionKind : std::uint8_t {
  set_order,          ///< where a waiting job stands in the queue
  hold,               ///< a waiting job does not start
  release,            ///< it may start again
  start,              ///< a waiting job, on these GPUs
  evict,              ///< a running job leaves its GPUs and waits again
  requeue_excluding,  ///< a job that failed or hangs starts again, on nodes other than these
  drain_node,         ///< a node takes no new job
  undrain_node,       ///< it takes jobs again
  release_spare,      ///< a spare node serves the cluster
  test_nodes,         ///< the site's test runs on these nodes, as a job with the token
  cancel,             ///< a job ends
  submit,             ///< a job enters the queue
  annotate,           ///< a text is kept with a job
  notify,             ///< a text goes to a job's owner
};
inline constexpr int action_kinds = static_cast<int>(ActionKind::notify) + 1;
/// Its name as above, in JSON and on the command line; the other way: nothing for any other word.
[[nodiscard]] std::string_view name_of(ActionKind kind);
[[nodiscard]] std::optional<ActionKind> action_kind_of(std::string_view name);

/// What SchedMate may do by itself, from nothing to everything within its caps.
enum class Mode : std::uint8_t {
  observe,  ///< decides nothing
  shadow,   ///< decides and records; nothing leaves the program
  approve,  ///< an operator decides on each action
  act,
};
[[nodiscard]] std::string_view name_of(Mode mode);
[[nodiscard]] std::optional<Mode> mode_of(std::string_view name);

/// One at a time, in the order of may_follow(). "The end": it never changes again.
enum class ActionState : std::uint8_t {
  planned,     ///< always the first
  shadowed,    ///< recorded, not carried out: the mode was shadow. The end
  waiting,     ///< for an operator: the mode was approve, or a cap was reached
  approved,    ///< by an operator
  rejected,    ///< by an operator. The end
  expired,     ///< nobody decided in time. The end
  discarded,   ///< the breaker opened while it waited. The end
  intended,    ///< recorded as about to be called
  called,      ///< the call returned, its time ran out, or the program that made it ended
  verified,    ///< the cluster shows it. The end of what cannot be undone
  failed,      ///< the cluster refused it, or shows that it did not happen. The end
  ambiguous,   ///< nobody knows whether it happened: it is not repeated
  superseded,  ///< somebody else changed the target, or it is gone. The end
  undone,      ///< the cluster is as it was before. The end
};
inline constexpr int action_states = static_cast<int>(ActionState::undone) + 1;
[[nodiscard]] std::string_view name_of(ActionState state);
[[nodiscard]] std::optional<ActionState> action_state_of(std::string_view name);

/// Whether an action of this kind may go from one state to the next.
[[nodiscard]] bool may_follow(ActionKind kind, ActionState from, ActionState to);
/// Whether it never changes again.
[[nodiscard]] bool is_end(ActionKind kind, ActionState state);
/// Whether it is still to be carried out or its outcome is open. Then nothing else may be planned
/// for what it changes (targets_of()).
[[nodiscard]] bool is_in_flight(ActionState state);

/// set_order, hold, drain_node and annotate.
[[nodiscard]] bool can_be_undone(ActionKind kind);
/// Whether a second call does no harm, so that a lost one may be repeated at once: set_order.
[[nodiscard]] bool is_idempotent(ActionKind kind);
/// Whether a lost call may be repeated once the cluster was read and does not show it:
/// requeue_excluding while ActionCall::restarts holds, submit while its token is not found. What is
/// neither idempotent nor one of these is never repeated, but planned anew.
[[nodiscard]] bool repeats_after_reading(ActionKind kind);

/// GPUs of one node by index; empty: as many as the job needs, the cluster says which.
struct NodeGpus {
  std::string node;
  std::vector<std::int32_t> gpus;
  bool operator==(const NodeGpus&) const = default;
};

/// Whether a reason or hold begins with just this mark.
[[nodiscard]] bool carries_mark(std::string_view text, std::string_view mark);

/// What is asked of a cluster. Fields that the kind does not name are empty.
struct ActionCall {
  ActionKind kind = ActionKind::notify;
  /// set_order, hold, release, start, evict, requeue_excluding, cancel, annotate, notify.
  std::string job{};
  /// Which job of that id, as ids come again; and which attempt: start, evict and requeue_excluding
  /// are carried out only while the cluster shows as many.
  SimTime submitted{};
  std::int64_t restarts = 0;
  /// start: where. The others that concern nodes: which; requeue_excluding: which not.
  std::vector<NodeGpus> nodes{};
  /// start: the running job whose GPUs it shares; evict: the one that it is parted from.
  std::string shared_with{};
  /// set_order: 0 is neutral, more goes first.
  std::int64_t order = 0;
  /// drain_node: the reason, hold: "", both with the mark in front; undrain_node, release, and
  /// test_nodes of a node that is drained: the mark that must still stand there; annotate, notify:
  /// the text; submit: the request as JSON.
  std::string text{};
  /// notify: to whom. submit: as whom.
  std::string user{};
  /// submit: what to look for before a lost call is repeated. test_nodes: of the job that tests.
  std::string token{};
  bool operator==(const ActionCall&) const = default;
};

/// What the call changes, as keys that no second action in flight may have: "order JOB"
/// (set_order), "job JOB" (hold, release, start, evict, requeue_excluding, cancel), "note JOB"
/// (annotate), "node NODE" of each node (drain_node, undrain_node, release_spare, test_nodes),
/// "submission TOKEN". None for notify.
[[nodiscard]] std::vector<std::string> targets_of(const ActionCall& call);

/// A state that it reached.
struct ActionStep {
  ActionState state = ActionState::planned;
  SimTime when{};
  /// Who: "schedmate", or an operator.
  std::string by{};
  /// What was seen or said, for people.
  std::string note{};
  bool operator==(const ActionStep&) const = default;
};

/// A decision with all that came of it.
struct Action {
  /// From 1 on, in order of planning; never used again.
  std::int64_t id = 0;
  ActionCall call{};
  /// Evidence lines, witnesses, estimates.
  std::vector<std::string> why{};
  Mode mode = Mode::shadow;  ///< when it was decided
  /// What undo restores: the order, the reason or the text that stood there.
  std::string before{};
  /// The action whose effect this one takes back, 0 = none. Undo is an action with an intent of its
  /// own (drain_node: undrain_node; hold: release; the others: the same kind with what was
  /// `before`); once it is verified, that one is `undone`.
  std::int64_t undoes = 0;
  /// At least one, and the first is `planned`; the last is its state.
  std::vector<ActionStep> steps{};

  [[nodiscard]] ActionState state() const { return steps.back().state; }
  bool operator==(const Action&) const = default;
};

/// may_follow(), and allowed in the mode of its decision: nothing in observe; only `shadowed` in
/// shadow; in approve, nothing is intended that was not approved.
[[nodiscard]] bool may_become(const Action& action, ActionState next);

}  // namespace schedmate
