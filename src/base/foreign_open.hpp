// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The child's side of ForeignFile: it opens as the reader, and reads where its parent must not.

#include <sys/stat.h>

#include "base/foreign_file.hpp"

namespace schedmate {

struct OpenedAs {
  Descriptor file;
  struct stat status{};
  Identity reader;
};

/// Changes the user of the process where the reader is another. Errors: as ForeignFile::open.
[[nodiscard]] Result<OpenedAs> open_as_reader(const ForeignPath& path, ForeignFile::Want want);

/// A file system that is no more than memory and disks of this machine.
[[nodiscard]] bool always_answers(const Descriptor& file);

/// What a parent asks of a child that reads, and the head of each answer; the bytes follow in the
/// same message.
struct ReadRequest {
  std::uint64_t offset = 0;
  std::uint32_t bytes = 0;  ///< 0: the status
};
struct ReadAnswer {
  std::int64_t bytes = 0;  ///< negative: the error
  struct stat status{};
};
inline constexpr std::size_t most_served_bytes = std::size_t{1} << 16U;

/// Answers until the other end is closed.
void serve_reads(const Descriptor& file, int socket);

}  // namespace schedmate
