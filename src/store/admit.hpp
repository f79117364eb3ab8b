// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What may enter a store, whatever a job's owner wrote: valid UTF-8 without NUL, within
/// StoreLimits. Every row calls these before it writes.

#include <schedmate/store.hpp>
#include <string>
#include <string_view>

namespace schedmate::store {

/// Bytes that are no UTF-8, and NUL, become U+FFFD; cut at a character's border.
[[nodiscard]] std::string clean_text(std::string_view text, std::size_t most_bytes);

/// The record as it may be kept. Errors: invalid (no id, a name or a document too long).
[[nodiscard]] Result<JobRecord> admit(const JobRecord& record);
[[nodiscard]] Result<Outcome> admit(const Outcome& outcome);
/// Ids and names as they stand in the store, for looking up.
[[nodiscard]] std::string clean_name(std::string_view text);
[[nodiscard]] JobFilter admit(const JobFilter& filter);
/// The value of a cache entry may hold any bytes.
[[nodiscard]] Result<void> check(const CacheEntry& entry);

// Sentences that all rows share.
[[nodiscard]] std::string no_such_job(std::string_view id);
[[nodiscard]] std::string held_by_another(std::string_view id);

}  // namespace schedmate::store
