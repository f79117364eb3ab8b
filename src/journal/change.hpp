// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What append() does within its transaction.

#include "journal/chain.hpp"
#include "journal/journal.hpp"

namespace schedmate::journal {

/// Writes the batch, and adds its entries to those of the chain. Errors: those of
/// Journal::append(); the transaction is then to be rolled back. Errors of the disk stick in
/// `database`.
[[nodiscard]] Result<void> write_batch(sqlite::Database& database, const Batch& batch,
                                       NewEntries& entries);

}  // namespace schedmate::journal
