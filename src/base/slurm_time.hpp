// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Lengths of time as people write them: in a Slurm submission, and for our own flags. Elapsed
/// times that sacct prints are another format (trace/values.hpp).

#include <optional>
#include <schedmate/time.hpp>
#include <string_view>

namespace schedmate {

/// A time limit of Slurm.
struct SlurmTime {
  std::optional<Seconds> limit;  ///< nothing: no limit
};

/// What `--time` of sbatch takes: "90" (minutes), "90:30" (minutes:seconds), "2:00:00", "1-12"
/// (days-hours), "1-12:30", "1-12:30:00"; "UNLIMITED", "INFINITE", "-1" and 0 are no limit. As in
/// Slurm, a part may exceed 59. Nothing for other text, and for parts above 10^9.
[[nodiscard]] std::optional<SlurmTime> parse_slurm_time(std::string_view text);

/// What a flag of ours takes: a plain number is SECONDS, with an optional fraction, which is cut
/// off; "45s", "90m", "2h", "7d" name the unit; whatever holds ':' or '-' is a time of Slurm.
/// Nothing for other text, negative numbers, and for more than `longest_duration`.
[[nodiscard]] std::optional<Seconds> parse_duration(std::string_view text);

/// Ten years of 365 days: nothing that runs takes longer.
inline constexpr Seconds longest_duration{10LL * 365 * 86'400};

}  // namespace schedmate
