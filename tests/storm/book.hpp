// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What is written down of a run, for the checkers and for people: each call with what it did, what
/// people did, what was proposed and decided. Nobody in the run reads it.

#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <schedmate/action.hpp>
#include <schedmate/connector.hpp>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "live/loop.hpp"
#include "tests/storm/timeline.hpp"

namespace schedmate::storm {

/// A call on its way: what the daemon sent.
struct Sent {
  std::uint64_t number = 0;  ///< from 1 on
  Millis when = 0;
  std::int64_t action = 0;
  ActionCall call;
};

/// A call that arrived at the cluster.
struct Effect {
  Millis when = 0;
  std::uint64_t sent = 0;  ///< Sent::number
  std::int64_t action = 0;
  ActionCall call;
  bool effective = false;  ///< something is otherwise than before
  std::string before;      ///< what stood there: the mark, order or note
};

/// Of a human on the cluster, or the world.
struct Deed {
  Millis when = 0;
  std::string what;     ///< "drain", "undrain", "hold", ...
  std::string subject;  ///< node or job
  std::string before;   ///< what stood there
};

struct Offered {
  SimTime wall;  ///< on the daemon's clock
  live::Proposal proposal;
  bool truly_bad = false;  ///< all of its nodes
};

/// One attempt of a job, as it really was.
struct Life {
  std::string id;
  SimTime submitted;
  std::int64_t restarts = 0;
  std::optional<SimTime> started{}, ended{};
  EndState end_state = EndState::unknown;
  bool is_test = false;  ///< of nodes
};

/// A test of nodes that has said something.
struct Tested {
  Millis when = 0;
  std::vector<std::string> nodes;
  bool failed = false, truly_bad = false;
};

/// A log that says of this node, or of all nodes of its job, that they are bad.
struct Blamed {
  Millis when = 0;
  std::string node;
};

using AttemptKey = std::tuple<std::string, SimTime, std::int64_t>;  ///< id, submission, restarts

/// The log of an attempt that was looked at.
struct Written {
  Millis stands_from = std::numeric_limits<Millis>::max();  ///< it shows no steps from then on
  bool damaged = false;  ///< cut, moved away, or lied at some time
  bool lied = false;
};

struct Violation {
  std::string rule;  ///< one word
  std::string what;  ///< one sentence
  Millis when = 0;
};

class Book {
 public:
  explicit Book(bool traces) : traces_(traces) {}
  template <class... Values>
  void note(Millis when, fmt::format_string<Values...> text, Values&&... values) {
    if (traces_)
      trace.push_back(fmt::format("{:>9.3f} s  {}", static_cast<double>(when) / 1000,
                                  fmt::format(text, std::forward<Values>(values)...)));
  }
  [[nodiscard]] bool traces() const { return traces_; }
  /// The first one counts.
  void accuse(Millis when, std::string rule, std::string what) {
    if (violation) return;
    note(when, "VIOLATION of {}: {}", rule, what);
    violation = Violation{std::move(rule), std::move(what), when};
  }

  std::vector<std::string> trace;
  std::optional<Violation> violation;
  std::vector<Sent> sent;
  std::vector<Effect> effects;
  std::vector<Deed> deeds;
  std::vector<Offered> offered;
  std::vector<live::Decided> decisions;
  std::vector<Life> lives;
  std::vector<Tested> tests;
  std::vector<Blamed> blames;
  std::map<AttemptKey, Written> logs;
  bool clock_jumped = false;
  std::int64_t hangs = 0, restarted = 0;  ///< jobs that hang: owners told, restarts planned
  std::int64_t halves = 0;                ///< tests of half of the nodes of a test that failed
  std::int64_t found = 0;                 ///< drains that rest on such a test and a log

 private:
  bool traces_;
};

/// "drain_node n2", "start 1003 on n1", for people.
[[nodiscard]] std::string text_of(const ActionCall& call);

}  // namespace schedmate::storm
