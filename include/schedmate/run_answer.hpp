// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What the owner of a job asks before a run: how long it runs if it completes, whether it ends
/// before, and what limit to give it (docs/decisions/0022). Three answers, since a run that was
/// killed by its limit, or failed, does not show how long it would have been. Durations are run
/// times on the job's GPUs, in seconds.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <schedmate/job.hpp>
#include <string>
#include <string_view>

namespace schedmate {

/// What an estimate is based on, best first.
enum class AdviceSource : std::uint8_t { resubmission, similar, user_history, none };
[[nodiscard]] std::string_view name_of(AdviceSource source);

/// How a past answer about the length of a completed run came out.
struct LengthMiss {
  /// log(length / the centre of the answer).
  double log_ratio = 0;
  /// The run was stopped from outside (its limit, a node): the ratio is at least this.
  bool at_least = false;
  AdviceSource source = AdviceSource::none;
  bool same_user = false;
  /// log(centre), which tells answers of one user apart.
  double log_centre = 0;
  /// So many of the misses at hand are of one answer, given to a burst of submissions.
  double alike = 1;
};

/// What a suggested time limit is bound to.
struct LimitPolicy {
  /// That a run which would complete is killed, 0 to 1.
  double risk = 0.05;
  /// The hard limit of the partition or the user, where it is known.
  std::optional<Seconds> longest{};
};

struct TimeLimit {
  /// For `--time`, in steps that a person writes.
  Seconds suggested{0};
  /// That a run which would complete is killed by it: at most this, 0 to 1.
  double risk = 0;
  /// It is the longest one allowed, so the risk may be above the one asked for.
  bool longest = false;
  /// The same risk under the limit that the submission asks for.
  std::optional<double> asked_risk{};
};

/// What the owner of a job asks: how long it runs if it completes, whether it ends before, and what
/// limit to give it.
struct RunAnswer {
  /// none: no past run says anything about the length.
  AdviceSource source = AdviceSource::none;
  /// Past runs that it stands on.
  std::map<EndState, std::size_t> runs_by_state;
  /// Chance that the job fails or is cancelled before it completes, 0 to 1.
  /// Absent where no past run says anything, and of an estimate that looks at none but completed
  /// ones.
  std::optional<double> early_end{};
  /// Of a run that completes.
  FractionalSeconds mean{0}, p10{0}, p50{0}, p90{0};
  /// p50 before it was brought below the limit asked for.
  FractionalSeconds centre{0};
  /// "": the length is known. Else why it is not; what is above is then no answer.
  std::string not_known;
  /// Absent when the length is not known.
  std::optional<TimeLimit> time_limit;
  [[nodiscard]] bool known() const { return source != AdviceSource::none && not_known.empty(); }
};

/// Why the length is not known. Only of an answer that is not known().
[[nodiscard]] std::string why_not_known(const RunAnswer& answer);

}  // namespace schedmate
