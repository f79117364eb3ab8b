// SPDX-License-Identifier: Apache-2.0
#pragma once

/// How far a journal has come, in a small file beside it: what the journal itself lacks of that,
/// after a kill say, has been lost, though SQLite finds nothing wrong. docs/actions.md.

#include <cstdint>
#include <optional>
#include <schedmate/result.hpp>
#include <string>

#include "base/descriptor.hpp"
#include "sqlite/database.hpp"

namespace schedmate::journal {

struct Head {
  std::int64_t changes = 0;  ///< transactions that were acknowledged
  std::int64_t epoch = 0;
  std::int64_t next_action = 1;
  std::int64_t sequence = 0;  ///< of the last entry of the chain
  std::string hash{};         ///< of that entry
  bool operator==(const Head&) const = default;
};

/// Name of the counter of changes among what is kept.
inline constexpr const char* counter_name = "changes";

/// How far this journal has come.
[[nodiscard]] Head head_of(sqlite::Database& database);
/// In words, what the journal lacks of what was on record, or has otherwise; "": nothing.
[[nodiscard]] std::string lost_since(const Head& head, sqlite::Database& database);
/// One more change, within its transaction.
void count_change(sqlite::Database& database);

/// Where a journal has its own.
[[nodiscard]] inline std::string head_path(const std::string& journal) { return journal + ".head"; }

class HeadFile {
 public:
  /// Makes an empty one where there is none. Errors: those of open_own_file().
  static Result<HeadFile> open(const std::string& path);

  /// That of a journal, for whoever may only read; nothing where it is not there. Errors: those of
  /// read().
  [[nodiscard]] static Result<std::optional<Head>> read_of(const std::string& journal);

  /// Nothing: it is empty. Errors: invalid (it is damaged), unavailable.
  [[nodiscard]] Result<std::optional<Head>> read() const;
  /// After the change that it tells of, so that it never says more than the journal holds. In
  /// place, which needs no room on a full disk. Errors: unavailable.
  Result<void> write(const Head& head);
  /// That a power cut leaves the file.
  Result<void> sync();

 private:
  HeadFile(std::string path, Descriptor file) : path_(std::move(path)), file_(std::move(file)) {}
  std::string path_;
  Descriptor file_;
};

}  // namespace schedmate::journal
