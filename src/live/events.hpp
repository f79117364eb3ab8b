// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What comes into the live loop, and what goes out of it (loop.hpp). Values.

#include <cstdint>
#include <schedmate/connector.hpp>
#include <schedmate/result.hpp>
#include <string>
#include <variant>
#include <vector>

#include "journal/journal.hpp"
#include "live/actions.hpp"
#include "live/jobs.hpp"
#include "live/study.hpp"
#include "live/submissions.hpp"

namespace schedmate::live {

// Events: what has happened.
/// The reading that effect List{number} asked for.
struct Listed {
  std::uint64_t number = 0;
  Result<Listing> listing;
};
/// The journal's answer to Append. After an error the loop only looks, until another one is made of
/// what the journal then holds.
struct Appended {
  Result<void> result;
};
struct Returned {
  std::int64_t action = 0;
  CallReply reply;
};
/// Slow work has found a reason to act.
struct Proposed {
  Proposal proposal;
};
/// What Examine{study} has found; `unavailable` and `timeout` may pass, other errors do not.
struct Studied {
  std::uint64_t study = 0;
  Result<Finding> finding;
};
/// A witness other than a job's own log.
struct Witnessed {
  NodeWitness witness;
};
/// An operator.
struct Decided {
  enum class What : std::uint8_t { approve, reject, undo, close_breaker } what;
  std::int64_t action = 0;
  std::string by{};
  std::uint64_t number = 0;  ///< of the Answer
};
/// Time has passed.
struct Ticked {};
using Event = std::variant<Listed, Appended, Returned, Proposed, Studied, Witnessed, Requested,
                           Decided, Ticked>;

// Effects: what is to be done.
struct Append {
  journal::Batch batch;
};
struct MakeCall {
  std::int64_t action = 0;
  ActionCall call;
};
struct List {
  std::uint64_t number = 0;
  SimTime ended_since;
};
/// What that test has left is to be removed (Connector::end_test()); readings show whether it was.
struct EndTest {
  std::string token;
};
/// Slow work; few at a time, and in no hurry.
struct Examine {
  Study study;
};
/// Comes once the record of what was decided is safe.
struct Answer {
  std::uint64_t number = 0;
  Result<std::int64_t> result;  ///< of an undo the new action, else the action
  bool repeated = false;        ///< of a request that was made before
};
/// For those who follow: it has changed.
struct Noted {
  enum class What : std::uint8_t { job, action } what;
  std::string id;
  ActionState state = ActionState::planned;     ///< of an action
  Change::Kind change = Change::Kind::altered;  ///< of a job
  std::string job{};                            ///< of a new action: which it is about
};
/// Nothing is recorded any more: the loop only looks (Loop::only_look()).
struct Stop {
  Error error;
};
using Effect = std::variant<Append, MakeCall, EndTest, List, Examine, Answer, Noted, Stop>;

}  // namespace schedmate::live
