// SPDX-License-Identifier: Apache-2.0
#pragma once

/// How near a replay comes to what was, and what another policy changes against that replay.
/// docs/formats/whatif.md defines every figure.

#include <schedmate/sim.hpp>
#include <span>
#include <string>
#include <vector>

#include "whatif/world.hpp"

namespace schedmate::whatif {

/// The replay against reality, over the jobs that entered on their own (not pinned).
struct Fidelity {
  std::uint64_t jobs = 0;
  std::uint64_t never_started = 0;  ///< of them, in the replay; their error counts as infinite
  std::uint64_t pinned = 0;
  std::uint64_t pinned_elsewhen = 0;  ///< pinned jobs that could not start at their real time
  std::uint64_t censored = 0;
  double median_error_s = 0;  ///< of |start in the replay - real start|
  double p90_error_s = 0;
  double mean_error_s = 0;  ///< signed: positive when the replay starts jobs later
  double within_60_s = 0;   ///< share of jobs
  double real_wait_s = 0;   ///< mean of start - eligible
  double replay_wait_s = 0;
  double allowed_s = 0;  ///< max(10 min, 20 % of the mean real wait)
  /// Whether comparisons stand on it.
  [[nodiscard]] bool good() const { return jobs > 0 && median_error_s <= allowed_s; }
};
[[nodiscard]] Fidelity measure_fidelity(const RecordedCluster& world, const SimResult& replay);

/// Jobs by something: a user, a size.
struct Grouping {
  std::vector<std::string> names;
  std::vector<std::uint32_t> of_row;  ///< by Trace::jobs
};

enum class Effect : std::uint8_t { gains, loses, unclear };
/// What a verdict rests on. `none`: the interval holds 0, or there are fewer than 6 jobs. `low`: it
/// may come from the model alone. `medium`: fewer than 30 jobs.
enum class Confidence : std::uint8_t { none, low, medium, high };
/// Why the confidence is not high.
enum class LowConfidenceReason : std::uint8_t {
  none,
  unclear,       ///< the interval holds 0
  gpu_use,       ///< the policy looks at GPU use, and the dump has none
  replay_error,  ///< the effect is not larger than model_error() of the group or of all jobs
  near_to_past,  ///< the run is nearly as near to what was as the replay, so may be what was
  few_jobs,      ///< fewer than 30; of fewer than 6 the verdict is unclear whatever the figures
};
[[nodiscard]] std::string_view to_string(Effect effect);
[[nodiscard]] std::string_view to_string(Confidence confidence);
[[nodiscard]] std::string_view to_string(LowConfidenceReason doubt);

/// One group under one policy. Job completion times (JCT) count from Eligible and are at least 1 s.
struct Change {
  std::string name;
  std::uint64_t jobs = 0;
  double log_ratio =
      0;           ///< mean of ln(JCT under the policy / JCT in the replay); below 0 is faster
  double low = 0;  ///< 95 % bootstrap interval over jobs
  double high = 0;
  double replay_log_ratio = 0;  ///< mean of ln(JCT in the replay / real JCT): the model's own error
  double replay_log_error = 0;  ///< mean of its size, |ln(JCT in the replay / real JCT)|
  double end_shift_s = 0;       ///< mean of |end under the policy - real end|
  double replay_end_error_s = 0;  ///< mean of |end in the replay - real end|
  double wait_s = 0;              ///< mean, under the policy
  double replay_wait_s = 0;
  double real_wait_s = 0;
  Effect verdict = Effect::unclear;
  Confidence confidence = Confidence::none;
  LowConfidenceReason doubt = LowConfidenceReason::unclear;
};

/// By how much, in ln, the replay and a run like it may be off; a smaller effect is too small to
/// tell. docs/decisions/0015-whatif.md derives it.
[[nodiscard]] double model_error(const Change& change);

/// The runs to compare, over the same world.
struct Pair {
  const SimResult& replay;
  const SimResult& policy;
  bool gpu_use_invented = false;  ///< the policy ran on GPU use that the dump does not have
};

/// One row for each group that has jobs, in the order of the names. Only jobs that finished in both
/// runs and whose real end is known count. `seed` of the bootstrap.
[[nodiscard]] std::vector<Change> compare(const RecordedCluster& world, const Pair& runs,
                                          const Grouping& groups, std::uint64_t seed);

/// GPU time of jobs that failed, as it really was.
struct Loss {
  std::string state;                         ///< Slurm's
  std::string cause;                         ///< as far as the state shows
  Confidence confidence = Confidence::none;  ///< in the cause: high where Slurm itself names it
  std::uint64_t jobs = 0;
  double gpu_h = 0;  ///< hours x GPUs of their runs: an upper bound, as checkpoints are not known
  double share = 0;  ///< of the GPU hours of all jobs
};
/// By state and cause, largest first.
[[nodiscard]] std::vector<Loss> find_losses(const AccountingDump& dump,
                                            const RecordedCluster& world);

/// Waiting by the reason that Slurm gave last, largest first.
struct WaitShare {
  std::string reason;
  std::uint64_t jobs = 0;
  double share = 0;  ///< of all waiting time
};
[[nodiscard]] std::vector<WaitShare> find_reasons(const AccountingDump& dump,
                                                  const RecordedCluster& world);

}  // namespace schedmate::whatif
