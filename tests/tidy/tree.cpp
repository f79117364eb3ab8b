// SPDX-License-Identifier: Apache-2.0
#include "tests/tidy/tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>

#include "base/text.hpp"

namespace schedmate::tidy {
namespace {

namespace fs = std::filesystem;

std::string read_whole(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string shell_quoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

/// Empty when there is no git or `root` is not in a work tree.
std::vector<std::string> paths_from_git(const std::string& root) {
  const std::string command =
      "git -C " + shell_quoted(root) + " ls-files -z -co --exclude-standard 2>/dev/null";
  std::string output;
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  if (!pipe) return {};
  std::array<char, 4096> buffer{};
  while (const auto got = std::fread(buffer.data(), 1, buffer.size(), pipe.get())) {
    output.append(buffer.data(), got);
  }
  std::vector<std::string> paths;
  for (const auto path : split(output, '\0')) {
    if (!path.empty()) paths.emplace_back(path);
  }
  return paths;
}

std::vector<std::string> paths_from_walk(const fs::path& root) {
  std::vector<std::string> paths;
  fs::recursive_directory_iterator walk(root);
  for (const auto& entry : walk) {
    const auto relative = fs::relative(entry.path(), root).generic_string();
    if (relative == "build" || relative == "demo-out" || relative == ".git") {
      walk.disable_recursion_pending();
    } else if (entry.is_regular_file()) {
      paths.push_back(relative);
    }
  }
  return paths;
}

Tree read_files(const fs::path& root, const std::vector<std::string>& paths) {
  Tree tree;
  for (const auto& path : paths) {
    if (!fs::is_regular_file(root / path)) continue;  // deleted, but still known to git
    File file{path, read_whole(root / path), fs::file_size(root / path)};
    if (file.text.find('\0') != std::string::npos) file.text.clear();
    tree.files.push_back(std::move(file));
  }
  std::ranges::sort(tree.files, {}, &File::path);
  const auto same = std::ranges::unique(tree.files, {}, &File::path);
  tree.files.erase(same.begin(), same.end());
  return tree;
}

/// The compile commands, and what the files that compile many sources together include.
std::string read_build(const fs::path& build) {
  std::string commands = read_whole(build / "compile_commands.json");
  constexpr std::string_view file_key = "\"file\": \"";
  std::string units;
  for (auto at = commands.find(file_key); at != std::string::npos;
       at = commands.find(file_key, at + 1)) {
    const auto begin = at + file_key.size();
    const std::string path = commands.substr(begin, commands.find('"', begin) - begin);
    if (path.ends_with(".cxx") && fs::is_regular_file(path)) units += read_whole(path);
  }
  return commands + units;
}

}  // namespace

const File* Tree::find(std::string_view path) const {
  const auto found = std::ranges::find(files, path, &File::path);
  return found == files.end() ? nullptr : &*found;
}

bool Tree::has_folder(std::string_view path) const {
  const auto prefix = std::string(path) + "/";
  return std::ranges::any_of(files, [&](const File& f) { return f.path.starts_with(prefix); });
}

Result<Tree> read_tree(const std::string& root, const std::string& build_folder) {
  try {
    auto paths = paths_from_git(root);
    if (paths.empty()) paths = paths_from_walk(root);
    auto tree = read_files(root, paths);
    if (!build_folder.empty()) tree.compile_commands = read_build(build_folder);
    return tree;
  } catch (const fs::filesystem_error& error) {
    return fail(ErrorCode::unavailable,
                fmt::format("cannot read the tree at {}: {}", root, error.what()));
  }
}

bool is_header(const File& file) { return file.path.ends_with(".hpp"); }
bool is_cpp(const File& file) { return is_header(file) || file.path.ends_with(".cpp"); }
bool is_test(const File& file) {
  return file.path.ends_with("_test.cpp") || file.path.starts_with("tests/");
}
bool is_markdown(const File& file) { return file.path.ends_with(".md"); }
bool is_public(const File& file) { return file.path.starts_with("include/"); }
bool is_foreign(const File& file) {
  constexpr std::array folders = {"data/", "third_party/", "tests/library/consumer/"};
  return std::ranges::any_of(folders, [&](auto each) { return file.path.starts_with(each); });
}

}  // namespace schedmate::tidy
