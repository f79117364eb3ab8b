// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Folders and files that hold this program's own state: nobody else may have a hand in them. They
/// belong to the user or to root, others may not write them, they are no links, and no link of
/// another user leads to them. Errors say what is wrong and how to mend it: refused (such a folder
/// or file), unavailable (cannot be made or opened).

#include <schedmate/result.hpp>
#include <string>

#include "base/descriptor.hpp"

namespace schedmate {

/// Makes the folder (rights 0700) and its parents where they are absent. Says whether it belongs to
/// this user (else to root).
[[nodiscard]] Result<bool> make_own_folder(const std::string& path);

/// Whether the folder is there and is such a one as make_own_folder() takes; makes nothing. Errors:
/// those of make_own_folder().
[[nodiscard]] Result<bool> has_own_folder(const std::string& path);

/// Opens a file with `flags` of open(), in a folder of one's own that is there. One that is to be
/// written is made (rights 0600) where it is absent.
[[nodiscard]] Result<Descriptor> open_own_file(const std::string& path, int flags);

/// That such a file is there: makes an empty one (rights 0600) where it is absent. One that is
/// there is not opened, since whoever closes a file gives up all locks that its process has on it.
/// Errors: those of open_own_file().
[[nodiscard]] Result<void> make_own_file(const std::string& path);

/// The first 4096 bytes of a file that others may not even read, as a key or a token is kept,
/// without blanks around them. Errors: those of open_own_file().
[[nodiscard]] Result<std::string> read_private_file(const std::string& path);

}  // namespace schedmate
