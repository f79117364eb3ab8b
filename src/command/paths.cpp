// SPDX-License-Identifier: Apache-2.0
#include "command/paths.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "command/pattern.hpp"

namespace schedmate::command {
namespace {

constexpr std::size_t most_paths = 1000;

/// "../../x" from folder `cwd` to root-relative `path`.
std::string relative(std::string_view path, std::string_view cwd) {
  std::vector<std::string_view> to = split(path, '/');
  std::vector<std::string_view> from = split(cwd, '/');
  std::erase(to, "");
  std::erase(from, ".");
  std::erase(from, "");
  std::size_t same = 0;
  while (same < to.size() && same < from.size() && to[same] == from[same]) ++same;
  std::string made;
  for (std::size_t i = same; i < from.size(); ++i) made += made.empty() ? ".." : "/..";
  for (std::size_t i = same; i < to.size(); ++i) {
    if (!made.empty()) made += '/';
    made += to[i];
  }
  return made.empty() ? "." : made;
}

std::string unescaped(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) ++i;
    plain += text[i];
  }
  return plain;
}

}  // namespace

std::string_view base_name(std::string_view path) {
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  const auto slash = path.rfind('/');
  return slash == std::string_view::npos || path.size() == 1 ? path : path.substr(slash + 1);
}

std::string_view folder_name(std::string_view path) {
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  const auto slash = path.rfind('/');
  if (slash == std::string_view::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::optional<std::string> path_in_tree(std::string_view cwd, std::string_view text) {
  if (text == tree_root || text.starts_with(std::string(tree_root) + "/")) {
    text.remove_prefix(tree_root.size());
    while (text.starts_with('/')) text.remove_prefix(1);
    cwd = ".";
  }
  auto path = tree::join_path(cwd, text);
  if (!path) return std::nullopt;
  return *path;
}

std::optional<std::string> end_in_tree(tree::Tree& tree, std::string_view text) {
  return tree.guess(text, 1);
}

std::string without_root(std::string_view text, std::string_view cwd) {
  std::string made;
  for (auto at = text.find(tree_root); at != std::string_view::npos; at = text.find(tree_root)) {
    made += text.substr(0, at);
    text.remove_prefix(at + tree_root.size());
    const std::size_t end = std::min(text.find_first_of(" \t\n:,;'\"=@"), text.size());
    const auto path =
        tree::join_path(".", text.substr(0, end).substr(text.starts_with('/') ? 1 : 0));
    made += path ? relative(*path == "." ? "" : *path, cwd) : std::string(text.substr(0, end));
    text.remove_prefix(end);
  }
  return made + std::string(text);
}

std::vector<std::string> matching_paths(tree::Tree& tree, std::string_view cwd,
                                        std::string_view pattern) {
  std::vector<std::string> found{""};
  const auto parts = split(pattern, '/');
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const bool last = i + 1 == parts.size();
    std::vector<std::string> next;
    for (const auto& prefix : found) {
      const auto add = [&](std::string_view name) {
        if (next.size() < most_paths)
          next.push_back(prefix + std::string(name) + (last ? "" : "/"));
      };
      if (!has_pattern_marks(parts[i])) {
        add(unescaped(parts[i]));
        continue;
      }
      const auto folder = path_in_tree(cwd, prefix.empty() ? "." : prefix);
      if (!folder) continue;
      for (const auto& entry : tree.list(*folder)) {
        const auto name = base_name(entry.path);
        if (name.starts_with('.') && !parts[i].starts_with('.')) continue;
        if ((last || entry.is_folder) && matches(parts[i], name)) add(name);
      }
    }
    found = std::move(next);
  }
  std::erase_if(found, [&](const std::string& path) {
    const auto in_tree = path_in_tree(cwd, path);
    return !in_tree || !(tree.is_file(*in_tree) || tree.is_folder(*in_tree));
  });
  return found;
}

}  // namespace schedmate::command
