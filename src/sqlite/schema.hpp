// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The tables of a file, and how older files become new ones.

#include <cstdint>
#include <span>
#include <string>

#include "sqlite/database.hpp"

namespace schedmate::sqlite {

struct Schema {
  std::int64_t application_id = 0;       ///< kept in the file: it is ours
  std::span<const char* const> steps{};  ///< step i brings a file from version i to i + 1
  const char* pragmas = "";              ///< run whenever a file is opened to write

  [[nodiscard]] int newest() const { return static_cast<int>(steps.size()); }
};

/// Makes the tables of a new file, or brings an older one up to version `up_to`, in one
/// transaction. Errors: invalid (a file that is damaged, not ours, or of a newer version is left as
/// it is), unavailable.
[[nodiscard]] Result<void> prepare(Database& database, const Schema& schema, int up_to);

/// The version of a file that is only read. Errors: those of prepare(); invalid (an older one: it
/// is brought forward by whoever writes it).
[[nodiscard]] Result<void> check_newest(Database& database, const Schema& schema);

}  // namespace schedmate::sqlite
