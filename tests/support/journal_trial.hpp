// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The journal on a disk that fails, by seed: after every crash and every error it must hold what
/// it acknowledged and nothing else, its chain must be sound, and its epoch must have risen.

#include <cstdint>
#include <string>

#include "journal/journal.hpp"

namespace schedmate::testing {

/// Runs a random history, and ends it before each of its writes, syncs and deletions in four ways:
/// killed, nothing left that was not synced, twice anything left of that. Each time the power goes
/// once more while the file is opened again, or just after. Gives "" or the first thing that is
/// wrong, with its place; counts the crashes.
[[nodiscard]] std::string fault_of_crashes(std::uint64_t seed, const journal::Rules& rules,
                                           std::int64_t& crashes);

/// Runs a random history on a disk with errors. What an append that failed wrote may be there or
/// not, but after the next opening that is settled. Counts the errors.
[[nodiscard]] std::string fault_of_errors(std::uint64_t seed, const journal::Rules& rules,
                                          std::int64_t& errors);

}  // namespace schedmate::testing
