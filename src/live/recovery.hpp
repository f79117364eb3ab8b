// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The Failure Handler's rules (paper 3.3; docs/recovery.md): what is to be done about a job that
/// has failed, from the cause that its log shows and from witnesses. One pure function over a table
/// of rules, the first that applies; what may then happen is for the rules of acting (actions.hpp).

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "live/actions.hpp"
#include "live/lives.hpp"

namespace schedmate::live {

/// A failed attempt. Refers to what it is made of.
struct FailureCase {
  const SeenJob& job;
  const CauseFound& cause;
  std::span<const EarlierFailure> earlier;  ///< of the same job
  std::span<const NodeWitness> witnesses;   ///< of its nodes, besides its log
  bool may_wait = false;                    ///< for witnesses that are still to come
};

/// The earlier attempt that failed of the same cause at the same step; nothing: none did.
[[nodiscard]] std::optional<EarlierFailure> failed_so_before(const FailureCase& failure);

struct Response {
  std::string_view rule{};
  bool waits = false;  ///< for witnesses: ask again later
  std::vector<Proposal> proposals{};
  std::string text_otherwise{};  ///< for the owner, where the restart does not come about
};
[[nodiscard]] Response respond_to(const FailureCase& failure);

/// A job that makes no steps any more.
struct HangCase {
  const SeenJob& job;
  Life::Hang hang;
  Seconds restart_after{0};    ///< 0: it is never restarted
  std::optional<bool> idle{};  ///< its GPUs are; nothing: nobody knows
  bool hung_before = false;    ///< in an earlier attempt, and was restarted for it
};
/// Rule `hung`: its owner is told once, and after a while it is restarted once, where the site says
/// so and nobody says that its GPUs work. What is done is noted in `hang`.
[[nodiscard]] std::vector<Proposal> respond_to_hang(HangCase& hung, SimTime now);

/// Name and summary of each rule, in the order in which they are asked.
struct RecoveryRule {
  std::string_view name, summary;
};
[[nodiscard]] std::vector<RecoveryRule> recovery_rules();

}  // namespace schedmate::live
