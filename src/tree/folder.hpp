// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The entries of one folder.

#include <vector>

#include "tree/rooted_folder.hpp"
#include "tree/tree.hpp"

namespace schedmate::tree {

struct FolderEntry {
  TreeEntry entry;
  bool is_link = false;
  std::string real;  ///< path without links
};

struct Folder {
  std::vector<FolderEntry> entries;  ///< sorted by name; folders and regular files only
  bool whole = true;                 ///< false when there are more than asked for
  bool odd_names = false;            ///< some names are not plain text and were left out
};

/// Errors: as Beneath::open.
[[nodiscard]] Result<Folder> list_folder(const RootedFolder& root, std::string_view path,
                                         std::size_t most);

/// UTF-8 without control characters.
[[nodiscard]] bool is_plain_name(std::string_view name);

}  // namespace schedmate::tree
