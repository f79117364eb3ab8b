// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Paths of scripts, beneath the tree.

#include "command/expand.hpp"

namespace schedmate::command {

/// `text` as a path relative to the root: relative to `cwd`, or below tree_root. Nothing when it
/// leaves the tree.
[[nodiscard]] std::optional<std::string> path_in_tree(std::string_view cwd, std::string_view text);

/// A file or folder meant by an absolute path or one that begins with something unknown: the
/// longest end of it that the tree has (Tree::guess).
[[nodiscard]] std::optional<std::string> end_in_tree(tree::Tree& tree, std::string_view text);

/// With each tree_root written as a path relative to `cwd`.
[[nodiscard]] std::string without_root(std::string_view text, std::string_view cwd);

/// Paths that fit a pattern, written as the pattern is; empty when there are none.
[[nodiscard]] std::vector<std::string> matching_paths(tree::Tree& tree, std::string_view cwd,
                                                      std::string_view pattern);

[[nodiscard]] std::string_view base_name(std::string_view path);
[[nodiscard]] std::string_view folder_name(std::string_view path);  ///< as dirname

}  // namespace schedmate::command
