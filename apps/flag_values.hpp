// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What a flag that takes a number accepts. The library reads hexadecimal and octal numbers, "nan",
/// and cuts what is too large; a wrong number must be an error instead that names the flag.

#include <cstdint>

namespace CLI {  // NOLINT(readability-identifier-naming): the library's
class Option;
}

namespace schedmate {

/// The largest number of a flag that has no limit of its own.
inline constexpr std::int64_t most_whole = 1'000'000'000'000'000;

/// A decimal number without leading zeros, from `least` to `most`.
void takes_whole(CLI::Option& option, std::int64_t least = 0, std::int64_t most = most_whole);
/// A finite number from `least` to `most`, written with digits.
void takes_number(CLI::Option& option, double least, double most);
/// A length of time (parse_duration() of base/slurm_time.hpp); the flag gets its seconds.
/// "UNLIMITED" is 0 where 0 means "no limit".
void takes_duration(CLI::Option& option);
void takes_time_limit(CLI::Option& option);
/// Seconds since 1970, from 0 to the year 2223.
void takes_date(CLI::Option& option);

}  // namespace schedmate
