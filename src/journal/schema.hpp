// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The tables of the journal's file (docs/actions.md).

#include <chrono>

#include "sqlite/schema.hpp"

namespace schedmate::journal {

/// Version 1. `state` has one row; `chain_head` repeats its head, so that a chain that was cut off
/// at its end shows; `targets` says which action in flight has which.
[[nodiscard]] const sqlite::Schema& journal_schema();

/// How long a writer waits for another one, and a reader for both.
inline constexpr std::chrono::milliseconds busy_timeout{5'000};

}  // namespace schedmate::journal
