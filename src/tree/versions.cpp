// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/sha256.hpp"
#include "tree/tree.hpp"

namespace schedmate::tree {
namespace {

bool looks_same(Tree& tree, const FileVersion& before) {
  auto now = tree.look(before.path);
  if (!now) return false;
  now->hash = before.hash;
  return *now == before;
}

}  // namespace

std::string closure_hash(std::span<const FileVersion> files) {
  std::vector<std::string> lines;
  lines.reserve(files.size());
  for (const FileVersion& file : files) lines.push_back(file.path + '\0' + file.hash + '\n');
  std::ranges::sort(lines);
  std::string all;
  for (const std::string& line : lines) all += line;
  return sha256(all);
}

bool unchanged(Tree& tree, std::span<const FileVersion> files) {
  return std::ranges::all_of(files, [&](const auto& file) { return looks_same(tree, file); });
}

std::vector<std::string> changed_files(Tree& tree, std::span<const FileVersion> files) {
  std::vector<std::string> changed;
  for (const FileVersion& file : files) {
    if (looks_same(tree, file)) continue;
    const auto now = tree.read(file.path);
    if (!now || (*now)->hash != file.hash) changed.push_back(file.path);
  }
  return changed;
}

}  // namespace schedmate::tree
