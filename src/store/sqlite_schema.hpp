// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The tables of the `sqlite` store and how older files become new ones.

#include "sqlite/database.hpp"

namespace schedmate::store {

/// Number of the newest schema, kept in the file's user_version.
[[nodiscard]] int newest_schema();

/// Makes the tables of a new file, brings an older one forward. A file that is damaged, not ours,
/// or of a newer version is left as it is. `up_to` is for tests of the way from older files.
[[nodiscard]] Result<void> prepare_schema(sqlite::Database& database, int up_to = newest_schema());

}  // namespace schedmate::store
