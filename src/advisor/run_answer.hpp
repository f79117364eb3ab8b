// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What the owner of a job is told (docs/decisions/0022): the length of a run that completes, the
/// chance to end before, a time limit with its risk.

#include <schedmate/advice.hpp>
#include <string>

namespace schedmate::advisor {

/// What a past answer said, as far as its error needs it.
struct GivenCentre {
  AdviceSource source = AdviceSource::none;  ///< none: there was no answer
  double log_centre = 0;
};
/// How it came out; nothing for a run that ended by itself before it could complete.
[[nodiscard]] std::optional<LengthMiss> miss_of(const GivenCentre& given, EndState state,
                                                Seconds duration);

/// The next longer limit that a person would write: whole minutes up to 10, then steps of 5 min,
/// 15 min (from an hour), 1 h (from 6 h), 6 h (from a day), 1 day (from a week).
[[nodiscard]] Seconds written_limit(FractionalSeconds at_least);
/// As Slurm's --time reads it: "0:45:00", "1-06:00:00".
[[nodiscard]] std::string slurm_time(Seconds limit);
/// "--time=0:45:00 (risk to be killed by it: at most 5 %)".
[[nodiscard]] std::string limit_in_words(const TimeLimit& limit);

/// "8 completed, 2 killed by the limit (counted as at least that long), 1 failed".
[[nodiscard]] std::string runs_in_words(const std::map<EndState, std::size_t>& runs);
[[nodiscard]] std::map<EndState, std::size_t> count_by_state(std::span<const PastRun> runs);

/// What would make an answer that is not known better; empty for one that is.
[[nodiscard]] std::vector<std::string> would_help(const RunAnswer& answer);

}  // namespace schedmate::advisor
