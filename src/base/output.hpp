// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Files that are whole or absent: written beside their place, renamed when complete. A kill at any
/// moment leaves the old file (or none) and at worst a ".NAME.PID.RANDOM.part" that the next run
/// removes. Nobody can plant that name beforehand, and two threads that write one file have two. A
/// link in the file's place is replaced, not followed; root follows no link of another user on the
/// way to the folder.

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <schedmate/result.hpp>
#include <string>
#include <string_view>

#include "base/descriptor.hpp"

namespace schedmate {

/// Whose the file is: everybody's, as the umask says, or a secret of its owner (rights 0600), which
/// is on the disk before it takes its place.
enum class Kept : std::uint8_t { open, secret };

/// Whose a file is, and who may do what with it.
struct FileRights {
  uid_t user = 0;
  gid_t group = 0;
  mode_t mode = 0644;
};

class OutputFile {
 public:
  /// Opens a part file beside `path`. Errors: unavailable (folder absent, no rights, disk full),
  /// refused (root, and a link of another user on the way).
  static Result<OutputFile> create(const std::string& path, Kept kept = Kept::open);
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&& other) noexcept;
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();  ///< removes the part file unless committed

  /// These instead, and on the disk before it takes its place; an error shows in commit().
  void take_rights(const FileRights& rights);
  void append(std::string_view text);  ///< buffered; an error shows in commit()
  /// Flushes and renames. Errors: unavailable with the system's reason.
  Result<void> commit();

 private:
  OutputFile() = default;
  void flush();
  void discard();
  std::string path_, part_, buffer_;  ///< `part_` is a name in the folder
  Descriptor folder_;
  std::optional<std::size_t> slot_;  ///< where remove_part_files() finds the part file
  int descriptor_ = -1;
  int error_ = 0;
  bool is_synced_ = false;  ///< on the disk before it takes its place
};

/// Whole file in one go.
Result<void> write_file(const std::string& path, std::string_view text, Kept kept = Kept::open);
Result<void> write_file(const std::string& path, std::string_view text, const FileRights& rights);

/// A folder with its parents; nothing happens when it is there. Errors: unavailable.
Result<void> make_folder(const std::string& path);

/// Removes the part files that exist now; for a signal handler (async-signal-safe).
void remove_part_files() noexcept;

}  // namespace schedmate
