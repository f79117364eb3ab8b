// SPDX-License-Identifier: Apache-2.0
#include "service/tree_access.hpp"

#include "tree/tree.hpp"

namespace schedmate::service {
namespace {

FileStamp stamp_of(const FileVersion& file) {
  return {file.path, file.size, file.mtime_ns, file.inode, file.hash};
}

FileVersion version_of(const FileStamp& file) {
  return {file.path, file.size, file.mtime_ns, file.inode, file.hash};
}

Result<Closure> read_closure(const std::string& root, std::span<const std::string> files) {
  auto tree = Tree::open(root);
  if (!tree) return tl::unexpected(tree.error());
  for (const std::string& path : files)
    if (const auto text = tree->read(path); !text) return tl::unexpected(text.error());
  const std::vector<FileVersion> versions = tree->versions();
  Closure closure;
  closure.hash = closure_hash(versions);
  for (const FileVersion& file : versions) closure.files.push_back(stamp_of(file));
  return closure;
}

bool is_unchanged(const std::string& root, std::span<const FileStamp> files) {
  auto tree = Tree::open(root);
  if (!tree || files.empty()) return false;
  std::vector<FileVersion> versions;
  for (const FileStamp& file : files) versions.push_back(version_of(file));
  return unchanged(*tree, versions) || changed_files(*tree, versions).empty();
}

/// A tree never reads below .git (its config may hold tokens), so that folder is one of its own
/// here. Of it the Version Manager asks for HEAD and refs only.
std::optional<std::string> redacted_text(const std::string& root, std::string_view path) {
  constexpr std::string_view git = ".git/";
  const bool of_git = path.starts_with(git);
  TreeLimits limits;
  limits.file_bytes = std::size_t{1} << 20U;  // packed-refs of ten thousand branches
  auto tree = Tree::open(of_git ? root + "/.git" : root, limits);
  if (!tree) return std::nullopt;
  const auto file = tree->read(of_git ? path.substr(git.size()) : path);
  return file ? std::optional((*file)->text) : std::nullopt;
}

}  // namespace

TreeAccess confined_tree() { return {read_closure, is_unchanged, redacted_text}; }

}  // namespace schedmate::service
