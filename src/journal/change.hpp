// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What append() does within its transaction.

#include <cstdint>
#include <map>
#include <schedmate/action.hpp>

#include "journal/chain.hpp"
#include "journal/journal.hpp"

namespace schedmate::journal {

/// Actions at no end as the file has them, so that the next step of one need not read it again. Of
/// committed changes alone: after any other it is to be emptied.
using OpenActions = std::map<std::int64_t, Action>;

/// Writes the batch, and adds its entries to those of the chain. Errors: those of
/// Journal::append(); the transaction is then to be rolled back. Errors of the disk stick in
/// `database`.
[[nodiscard]] Result<void> write_batch(sqlite::Database& database, const Batch& batch,
                                       NewEntries& entries, OpenActions& open);

}  // namespace schedmate::journal
