// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What the live loop may do, as its settings say (design: modes, caps, breaker). Values.

#include <cstdint>
#include <schedmate/action.hpp>
#include <schedmate/result.hpp>
#include <schedmate/scheduler.hpp>
#include <schedmate/time.hpp>
#include <string>

namespace schedmate::live {

/// Which of the modes an action obeys.
enum class Area : std::uint8_t {
  order,    ///< who goes first, starts and ends
  recover,  ///< failures: requeues, nodes out of service and back
  pack,     ///< jobs that share GPUs
  annotate,
  notify,
};

/// That of a call of this kind, whoever asks for it.
[[nodiscard]] Area area_of(const ActionCall& call);

struct Modes {
  Mode order = Mode::shadow, recover = Mode::shadow, pack = Mode::shadow, annotate = Mode::shadow,
       notify = Mode::shadow;
  [[nodiscard]] Mode of(Area area) const;
};

struct Caps {
  std::int64_t drained_nodes_max = 2;
  std::int64_t drained_pct_max = 5;  ///< of all nodes, rounded up
  std::int64_t requeues_per_job = 2;
  std::int64_t requeues_per_user_hour = 5;
  std::int64_t actions_per_hour = 30;  ///< that disturb somebody (disturbs())
  std::int64_t breaker_pct = 5;        ///< of all nodes, rounded up, at least three
  std::int64_t burst = 20;  ///< so many proposals that disturb within a minute open the breaker
};

/// How long things are waited for.
struct Waits {
  Seconds approval{3600};    ///< for an operator, then the action expires
  Seconds outcome{60};       ///< after the call, until what is not seen did not happen
  Seconds hold{3600};        ///< a hold ends by itself
  Seconds witness_age{600};  ///< a witness says something about now
  Seconds witness{60};       ///< for witnesses of a failure
  Seconds breaker_quiet{3600};
  Seconds test{600};        ///< for a test of nodes, its wait for them included
  Seconds hung_restart{0};  ///< so long hangs a job before it is restarted; 0: none is
  Seconds return_after{0};  ///< from an own drain to a test that may return the node; 0: none is
};

/// The rules of acting (docs/actions.md), for tests that show that the absence of each is found.
struct Rules {
  bool record_first = true;     ///< a call waits for its record
  bool ambiguous_stops = true;  ///< what may have happened is not called again
  bool reads_outcomes = true;   ///< the outcome is what is read, not what the call returned
  bool own_marks_only = true;   ///< only what carries the own mark is undone
  bool humans_win = true;       ///< what a human changed is not fought
  bool two_witnesses = true;    ///< before a node is drained or a job sent elsewhere
  bool caps = true;
  bool breaker = true;
  bool fail_open = true;  ///< holds end by themselves
  bool obeys_modes = true;
  bool tells_once = true;       ///< lives are kept, so that none is told again
  bool leaves_orders = true;    ///< an order that somebody else has set is left alone
  bool counts_starts = true;    ///< starts that are on their way hold their GPUs
  bool one_instance = true;     ///< nothing is called while another instance acts
  bool whole_readings = true;   ///< a reading that lacks what was there waits for the next one
  bool halves_suspects = true;  ///< of nodes that fail a test together each half is tested
};

struct Settings {
  std::string cluster = "schedmate";  ///< its name, for people
  /// In marks, no other daemon's: letters, digits, '-', '.' and '_'.
  std::string instance = "schedmate";
  Modes modes;
  Caps caps;
  Waits waits;
  Rules rules;
  /// What the cluster can do.
  bool can_test = true, can_release_spare = false;
  std::string chief = "root";  ///< who is told when it stops acting; "": nobody
};

/// Holds, evictions, requeues, cancellations, tests, and nodes out of service: what caps count and
/// an open breaker stops.
[[nodiscard]] bool disturbs(ActionKind kind);

/// What takes back the effect of such an action. Errors: conflict (nothing does; what can be done
/// instead).
[[nodiscard]] Result<ActionCall> undoing(const Action& action);

/// "schedmate:INSTANCE/ACTION": what marks a drain or a hold as an action's own.
[[nodiscard]] std::string mark_of(const Settings& settings, std::int64_t action);
/// Whether it begins with the mark of another instance's action.
[[nodiscard]] bool is_foreign_mark(const Settings& settings, std::string_view text);
/// Of a reason that begins with a mark that alone, since a line of somebody's log may stand behind
/// it; any other as it is.
[[nodiscard]] std::string_view told_to_all(std::string_view reason);
/// The action whose mark begins the text; nothing for the marks of others.
[[nodiscard]] std::optional<std::int64_t> marked_by(const Settings& settings,
                                                    std::string_view text);

}  // namespace schedmate::live
