// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What things cost in a replay. Everything is off by default, so that a plain replay shows the
/// policy alone; an experiment says which costs it turns on (settings cost.*). Shares are from 0
/// to 1.

#include <cstdint>
#include <schedmate/job.hpp>
#include <schedmate/time.hpp>
#include <vector>

namespace schedmate {

/// Failures that interrupt a job: they come at a rate, at the same moments of its progress whatever
/// the policy does. Those that end a job for good are in the trace already: FAILED rows.
struct FailureCosts {
  /// Mean GPU hours between two failures; 0 = none. Llama 3: one in 3.1 h on 16,000 GPUs.
  double gpu_hours = 0;
  /// Of them; the rest is the infrastructure's. The handler leaves both to the job's owner.
  double framework_share = 0, script_share = 0;
  Seconds checkpoint{1800};      ///< progress behind the last multiple of this is lost
  Seconds detection{600};        ///< a failed job holds its GPUs until somebody sees it
  Seconds manual_restart{3600};  ///< until its owner has started it again
  Seconds handled_restart{60};   ///< until the Failure Handler has
  double missed_share = 0;       ///< of infrastructure's, that the handler takes for the user's
  /// Of FAILED jobs and of failures of the script's, that it restarts without effect.
  double false_share = 0;
  /// Of infrastructure's whose node fails the job once more at once, unless the handler left it
  /// out.
  double bad_node_share = 0;
};

struct Costs {
  /// From a submission until there is advice. No job waits for it: what it meets later, a place
  /// in the profiler's queue or the way from there to its VC, is decided with it.
  Seconds advice{0};
  /// Of jobs whose log shows their speed. A slow-down that is not seen is not acted on.
  double tracked_share = 1;
  /// What the profiler saw of each profile of PackingTables, where that is not the truth (it ended
  /// before the utilisation was steady); empty: the truth.
  std::vector<Profile> seen_profiles{};
  FailureCosts failures;
};

/// A share of the jobs ends early, at a moment drawn uniformly, cancelled by their owners (paper
/// 5.1 sets "a portion of the job to exit early"). Changes rows of the trace.
void end_early(Trace& trace, double share, std::uint64_t seed);

}  // namespace schedmate
