// SPDX-License-Identifier: Apache-2.0
#include "service/tree_access.hpp"

#include "tree/tree.hpp"

namespace schedmate::service {
namespace {

advisor::FileStamp stamp_of(const tree::FileVersion& file) {
  return {file.path, file.size, file.mtime_ns, file.inode, file.hash};
}

tree::FileVersion version_of(const advisor::FileStamp& file) {
  return {file.path, file.size, file.mtime_ns, file.inode, file.hash};
}

Result<advisor::Closure> read_closure(const std::string& root, std::span<const std::string> files) {
  auto tree = tree::Tree::open(root);
  if (!tree) return tl::unexpected(tree.error());
  for (const std::string& path : files)
    if (const auto text = tree->read(path); !text) return tl::unexpected(text.error());
  const std::vector<tree::FileVersion> versions = tree->versions();
  advisor::Closure closure;
  closure.hash = tree::closure_hash(versions);
  for (const tree::FileVersion& file : versions) closure.files.push_back(stamp_of(file));
  return closure;
}

bool is_unchanged(const std::string& root, std::span<const advisor::FileStamp> files) {
  auto tree = tree::Tree::open(root);
  if (!tree || files.empty()) return false;
  std::vector<tree::FileVersion> versions;
  for (const advisor::FileStamp& file : files) versions.push_back(version_of(file));
  return tree::unchanged(*tree, versions) || tree::changed_files(*tree, versions).empty();
}

/// A tree never reads below .git (its config may hold tokens), so that folder is one of its own
/// here. Of it the Version Manager asks for HEAD and refs only.
std::optional<std::string> redacted_text(const std::string& root, std::string_view path) {
  constexpr std::string_view git = ".git/";
  const bool of_git = path.starts_with(git);
  tree::TreeLimits limits;
  limits.file_bytes = std::size_t{1} << 20U;  // packed-refs of ten thousand branches
  auto tree = tree::Tree::open(of_git ? root + "/.git" : root, limits);
  if (!tree) return std::nullopt;
  const auto file = tree->read(of_git ? path.substr(git.size()) : path);
  return file ? std::optional((*file)->text) : std::nullopt;
}

}  // namespace

advisor::TreeAccess confined_tree() { return {read_closure, is_unchanged, redacted_text}; }

}  // namespace schedmate::service
