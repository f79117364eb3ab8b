// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The project's files as values, so that every rule is a function from a tree to findings and can
/// be tested on a tree written by hand.

#include <cstdint>
#include <schedmate/result.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace schedmate::tidy {

struct File {
  std::string path;  ///< relative to the root, with '/'
  std::string text;  ///< empty for binary files
  std::uintmax_t size_bytes = 0;
};

struct Tree {
  std::vector<File> files;  ///< sorted by path
  /// compile_commands.json of a build of all tests; "" when there is none.
  std::string compile_commands;

  [[nodiscard]] const File* find(std::string_view path) const;
  [[nodiscard]] bool has_folder(std::string_view path) const;
};

/// What is wrong, where, and what to do instead. Line 0 means the file as a whole.
struct Finding {
  std::string path;
  int line = 0;
  std::string what;
  std::string instead;
  bool operator==(const Finding&) const = default;
};
using Findings = std::vector<Finding>;

/// The files git knows or would add, or all files when `root` is no git work tree (build folders
/// left out). Errors: unavailable when `root` or a file cannot be read.
Result<Tree> read_tree(const std::string& root, const std::string& build_folder);

[[nodiscard]] bool is_cpp(const File& file);       ///< .cpp or .hpp
[[nodiscard]] bool is_header(const File& file);    ///< .hpp
[[nodiscard]] bool is_test(const File& file);      ///< x_test.cpp or anything in tests/
[[nodiscard]] bool is_markdown(const File& file);  ///< .md
[[nodiscard]] bool is_public(const File& file);    ///< anything in include/
/// data/ and third_party/: not our text, only its size matters.
[[nodiscard]] bool is_foreign(const File& file);

}  // namespace schedmate::tidy
