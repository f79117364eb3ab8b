// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The bytes of an opened regular file that others may be writing to.

#include <schedmate/result.hpp>
#include <string>

#include "tree/rooted_folder.hpp"

namespace schedmate::tree {

struct FileBytes {
  std::string bytes;
  struct stat status{};  ///< before the last reading
  bool settled = true;   ///< false when it changed each time it was read
};

/// A file that changes while it is read is read again, three times in all. Errors: invalid (larger
/// than `most`, or grows beyond it), refused (cannot be read).
[[nodiscard]] Result<FileBytes> read_bytes(const Opened& opened, std::size_t most);

}  // namespace schedmate::tree
