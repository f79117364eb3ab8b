// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The seam of whoever carries out what is recommended of a failed attempt (paper 3.3, Failure
/// Handler). The diagnosis, its witnesses and the caps (diagnosis.hpp, recovery.hpp) come before;
/// the simulated cluster (src/sim/attempts.cpp) is one executor, what turns an order into actions
/// on a real one (requeue without those nodes, test nodes, notify the owner) is another.

#include <functional>
#include <optional>
#include <schedmate/diagnosis.hpp>
#include <schedmate/time.hpp>
#include <span>
#include <string>
#include <string_view>

namespace schedmate {

/// A failed attempt of a job, and what is to be done about it. What it shows is the caller's.
struct RecoveryOrder {
  std::string_view job_id;
  Recommendation recommendation = Recommendation::notify;
  /// Of the failed attempt: what restart_elsewhere leaves out and test_first tests; may be empty.
  std::span<const std::string> nodes{};
  std::string_view why{};  ///< for the owner and the record of what was done
};

/// What was set going.
struct RecoveryOutcome {
  /// When the job is in the queue again; nothing: it is left to its owner.
  std::optional<SimTime> back;
};

/// Called once for each failed attempt, by one thread; keeps nothing of the order. To leave a job
/// to its owner is an outcome, whatever the order says (a cap, a mode, an executor that only
/// watches), and no error.
using Executor = std::function<RecoveryOutcome(const RecoveryOrder& order)>;

}  // namespace schedmate
