// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The audit chain as it is written: entry n holds the SHA-256 of entry n - 1's hash and its own
/// text. docs/formats/audit.md.

#include <cstdint>
#include <schedmate/action.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/document.hpp"
#include "sqlite/database.hpp"

namespace schedmate::journal {

/// The hash of the entry after the one with the hash `before` ("" before the first).
[[nodiscard]] std::string chained(std::string_view before, std::string_view entry);

/// What the chain tells of a step of an action, by its index; with the first, all that was decided.
/// An entry is this between its sequence and its epoch.
[[nodiscard]] Document entry_of(const Action& action, std::size_t step);

/// New entries of one transaction: added one by one, written at its end.
class NewEntries {
 public:
  /// Reads the head within the transaction.
  explicit NewEntries(sqlite::Database& database);

  /// The step that `action` just made (its last). Gives the entry's sequence.
  std::int64_t add(const Action& action);
  /// What concerns no action: "epoch", "compacted" and what operators do.
  std::int64_t add(const ActionStep& step, std::string_view what, const Document& more);
  /// Writes the entries and both copies of the head.
  void write(sqlite::Database& database) const;

 private:
  std::int64_t add(const Document& told);

  std::int64_t epoch_ = 0, sequence_ = 0;
  std::string hash_;
  struct Row {
    std::int64_t sequence;
    std::string entry, hash;
  };
  std::vector<Row> rows_;
};

}  // namespace schedmate::journal
