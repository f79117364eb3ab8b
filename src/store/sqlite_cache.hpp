// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The bounded cache within the `sqlite` store.

#include <schedmate/store.hpp>

#include "sqlite/database.hpp"

namespace schedmate::store {

[[nodiscard]] Result<std::optional<std::string>> read_cache(sqlite::Database& database,
                                                            const std::string& space,
                                                            const std::string& key);
[[nodiscard]] Result<void> write_cache(sqlite::Database& database, const CacheEntry& entry,
                                       std::uint64_t most_bytes);
/// Drops what came from this root, within the transaction of the caller.
void drop_cache_of(sqlite::Database& database, const std::string& group);

}  // namespace schedmate::store
