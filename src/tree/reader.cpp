// SPDX-License-Identifier: Apache-2.0
#include "tree/reader.hpp"

namespace schedmate::tree {

Result<TreeReader> TreeReader::open(const std::string& root, const Identity& who, Confinement base,
                                    std::chrono::milliseconds answer) {
  std::string path = root.empty() ? "." : root;
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  auto folder = ForeignFile::open({path, {.identity = who, .budget = {.answer = answer}}},
                                  ForeignFile::Want::folder);
  if (!folder) return tl::unexpected(folder.error());
  base.reader = folder->reader();
  base.kept = folder->descriptor().number();
  return TreeReader(std::move(path), std::move(*folder), std::move(base));
}

Result<Tree> TreeReader::tree(TreeLimits limits) const {
  return RootedFolder::at(folder_.descriptor(), root_).and_then([&](RootedFolder root) {
    return Tree::open(std::move(root), limits);
  });
}

}  // namespace schedmate::tree
