// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A job's files, read beneath one root and never outside it (issue section 2, jobcode.md 3).
///
/// Every path is relative to the root with '/' between parts ("" or "." is the root itself) and is
/// opened with openat2(RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS), or a walk of its components where
/// the kernel lacks that. Links inside the root are followed, links out of it are refused. Only
/// regular files are read; text comes back as UTF-8 (BOM removed, UTF-16 and Latin-1 converted,
/// CRLF kept). A file is read once and kept. One thread only.

#include <map>
#include <memory>
#include <schedmate/result.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace schedmate {

struct TreeLimits {
  std::size_t file_bytes = 4 << 20;    ///< a larger file is an error that says so
  std::size_t total_bytes = 64 << 20;  ///< of all files read
  std::size_t files = 4000;            ///< files read
  std::size_t entries = 200'000;       ///< entries listed by walk()
  int depth = 40;                      ///< folders below the root
};

struct TextFile {
  std::string path;  ///< as asked for, normalised
  std::string text;
  std::vector<std::size_t> line_starts;  ///< offset of each line
  std::string hash;                      ///< of the bytes, hex
  [[nodiscard]] int lines() const { return static_cast<int>(line_starts.size()); }
  /// Line `number` (1-based) without its end; "" beyond the file.
  [[nodiscard]] std::string_view line(int number) const;
  [[nodiscard]] int line_of(std::size_t offset) const;
};

struct TreeEntry {
  std::string path;
  bool is_folder = false;
  std::size_t bytes = 0;
};

class Tree {
 public:
  /// Errors: not_found, refused (not the owner's and not world-readable, a link as root).
  static Result<Tree> open(const std::string& root, TreeLimits limits = {});
  Tree(Tree&&) noexcept;
  Tree& operator=(Tree&&) noexcept;
  ~Tree();

  /// The file as text. Errors: not_found; refused (leaves the root, no regular file, ignored by
  /// .schedmateignore, a secret such as .env); invalid (binary, beyond a limit). The pointer stays
  /// good as long as the tree. Failures other than not_found are also kept in degraded().
  Result<const TextFile*> read(std::string_view path);
  [[nodiscard]] bool is_file(std::string_view path);
  [[nodiscard]] bool is_folder(std::string_view path);
  /// Entries of one folder, sorted by name; empty when there is no such folder.
  [[nodiscard]] std::vector<TreeEntry> list(std::string_view folder);
  /// Everything below `folder`, in order of path, .git and ignored files left out.
  [[nodiscard]] std::vector<TreeEntry> walk(std::string_view folder);

  [[nodiscard]] const std::vector<std::string>& files_read() const;  ///< in order of reading
  [[nodiscard]] const std::vector<std::string>& degraded() const;
  void degrade(std::string note);  ///< keeps a note once

 private:
  struct Inside;
  explicit Tree(std::unique_ptr<Inside> inside);
  std::unique_ptr<Inside> inside_;
};

/// "a/./b/../c" -> "a/c"; absolute paths and paths that leave the root give an empty optional-like
/// error. `base` is the folder that `path` is relative to.
[[nodiscard]] Result<std::string> join_path(std::string_view base, std::string_view path);

}  // namespace schedmate
