// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The audit chain and the actions as they are read, by whoever may read the file, while the daemon
/// writes it (docs/formats/audit.md). Any thread; each call opens the file for itself.

#include <cstdint>
#include <optional>
#include <schedmate/action.hpp>
#include <schedmate/result.hpp>
#include <string>
#include <vector>

namespace schedmate::journal {

/// A journal that is read: its file, and a file system of SQLite's ("" = the machine's).
struct JournalFile {
  std::string path;
  std::string vfs{};
};

/// Where a state folder has its journal.
[[nodiscard]] std::string journal_path(const std::string& state_dir);

struct AuditEntry {
  std::int64_t sequence = 0;
  std::string text;  ///< one line of JSON: what the hash is over
  std::string hash;
};

/// Entries after `since`, in their order; a negative `since` counts from the end: the last three
/// entries are after -3. Errors: unavailable (no such file), invalid (not ours).
[[nodiscard]] Result<std::vector<AuditEntry>> audit_entries(const JournalFile& file,
                                                            std::int64_t since, std::size_t limit);

struct ActionsWanted {
  std::int64_t since = 0;   ///< with ids after it; a negative one counts back from the newest
  std::int64_t before = 0;  ///< with ids before it; 0: any
  std::optional<ActionState> state{};
  std::size_t limit = 1000;
};
/// Newest first, as far as they are kept. Errors: likewise.
[[nodiscard]] Result<std::vector<Action>> read_actions(const JournalFile& file,
                                                       const ActionsWanted& wanted);
/// Those of these ids that are kept, in this order. Errors: likewise.
[[nodiscard]] Result<std::vector<Action>> read_actions(const JournalFile& file,
                                                       const std::vector<std::int64_t>& ids);

/// Ids of the last ones about jobs of this id, newest first, as far as they are kept. It reads all
/// that are kept (Options::most_bytes). Errors: likewise.
[[nodiscard]] Result<std::vector<std::int64_t>> actions_about(const JournalFile& file,
                                                              const std::string& job,
                                                              std::size_t most);

struct AuditFault {
  std::int64_t sequence = 0;  ///< the first entry that is wrong; 0: none of them, but the rest
  std::string what;
};

struct AuditVerdict {
  std::int64_t first = 0, last = 0;  ///< sequences that are there; older ones were compacted
  std::int64_t entries = 0;
  std::string head;  ///< hash of the last
  /// With one in the chain, the above is of the entries before it.
  std::optional<AuditFault> fault;
};

/// Walks the whole chain, and compares the actions that are kept with it. A fault is a value: the
/// first one. Errors: unavailable (no such file), invalid (not ours, or SQLite cannot read it).
[[nodiscard]] Result<AuditVerdict> verify(const JournalFile& file);

}  // namespace schedmate::journal
