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

/// Opens a file with `flags` of open(), or makes it (rights 0600), in a folder of one's own that is
/// there.
[[nodiscard]] Result<Descriptor> open_own_file(const std::string& path, int flags);

}  // namespace schedmate
