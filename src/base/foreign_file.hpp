// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The one way to open what others may have written: logs, job files, kernel logs, trees, and with
/// them every other file that is read as text (base/input.hpp).
///
/// A child opens it, so that a file system that never answers costs no more than the deadline, and
/// so that root gives up its rights before it opens anything of another user:
/// - With an identity, the child becomes that user; the kernel decides what he may read.
/// - Root without one reads what is root's, and what belongs to another user and is readable for
///   all, the latter as that user. A link of another user makes that user the reader from there on;
///   links of two users are refused.
/// - Anyone else has the rights of the process.
/// The child hands over the descriptor, and is gone. Only where the file system may hang (FUSE,
/// NFS, anything unknown) it stays, and reads. "-", /dev/stdin and /dev/fd/N are what this process
/// holds already, a pipe too; for an identity other than the process they do not exist.
///
/// Threads: several may open files at the same time; one file is for one thread at a time.

#include <sys/stat.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <schedmate/file_access.hpp>
#include <schedmate/result.hpp>
#include <span>
#include <string>

#include "base/descriptor.hpp"

namespace schedmate {

class ForeignFile {
 public:
  enum class Want : std::uint8_t {
    file,    ///< a regular file, or a pipe that this process holds
    folder,  ///< a folder, which is not a link
  };

  /// Errors: not_found; refused (no rights, another user's, links of several users); invalid (a
  /// device, a pipe by its name, a folder for a file); timeout (the file system does not answer).
  static Result<ForeignFile> open(const ForeignPath& path, Want want = Want::file);
  ForeignFile(ForeignFile&& other) noexcept;
  ForeignFile& operator=(ForeignFile&& other) noexcept;
  ForeignFile(const ForeignFile&) = delete;
  ForeignFile& operator=(const ForeignFile&) = delete;
  ~ForeignFile();

  /// Fills `out` from `offset` on as far as the file goes; says how many bytes there were. Of a
  /// pipe the offset is not looked at. Errors: invalid (cannot be read), timeout.
  Result<std::size_t> read_at(std::span<char> out, std::uint64_t offset);
  /// As it is now. Errors: timeout.
  Result<struct stat> status();
  [[nodiscard]] bool is_pipe() const;
  /// Whose rights it was opened with; empty: those of this process.
  [[nodiscard]] const Identity& reader() const;
  /// Of a folder, or of a file that no child reads; else none.
  [[nodiscard]] const Descriptor& descriptor() const;

  /// As open(), with a child that stays and reads, as for file systems that may hang.
  static Result<ForeignFile> open_served(const ForeignPath& path);

 private:
  struct Inside;
  explicit ForeignFile(std::unique_ptr<Inside> inside);
  std::unique_ptr<Inside> inside_;
};

/// Of the descriptor of this process that a name stands for: "-", /dev/stdin, /dev/fd/N. What
/// others have named, such as a job's log, must be no such name.
[[nodiscard]] std::optional<int> held_number(const std::string& name);

/// Gives up the rights of root for those of `who`, for good; nothing for an empty identity. In a
/// child only. Errors: refused.
[[nodiscard]] Result<void> become(const Identity& who);

}  // namespace schedmate
