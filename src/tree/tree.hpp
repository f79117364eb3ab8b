// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A job's files, read beneath one root and never outside it.
///
/// Every path is relative to the root with '/' between parts ("" or "." is the root itself; an
/// absolute path below the root is taken as such) and is opened as tree/rooted_folder.hpp says.
/// Links inside the root are followed, links out of it are refused. Only regular files are read;
/// text comes back as UTF-8 (BOM removed, UTF-16 and Latin-1 converted, CRLF kept), a notebook as
/// its code. A file is read once and kept. One thread only.

#include <cstdint>
#include <memory>
#include <optional>
#include <schedmate/result.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tree/owner.hpp"
#include "tree/rooted_folder.hpp"

namespace schedmate::tree {

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
  std::string hash;                      ///< SHA-256 of the bytes, hex
  bool written = false;                  ///< by the job's command (put), not a file of the tree
  int odd_line = 0;  ///< the first one that is not UTF-8, and was taken for Latin-1; 0 = none
  const TextFile* below = nullptr;  ///< what put() laid it over, where that was read
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

/// A file as it was when it was read; `hash` is of its content, the rest shows cheaply whether it
/// may have changed since.
struct FileVersion {
  std::string path;
  std::uint64_t size = 0;
  std::int64_t mtime_ns = 0;
  std::uint64_t inode = 0;
  std::string hash;
  bool operator==(const FileVersion&) const = default;
};

class Tree {
 public:
  /// Errors: not_found; refused (not the owner's and not world-readable, a link as root); invalid
  /// (.schedmateignore cannot be understood: then nothing is read).
  static Result<Tree> open(const std::string& root, TreeLimits limits = {},
                           TrustedOwners rule = {});
  static Result<Tree> open(RootedFolder root, TreeLimits limits = {}, TrustedOwners rule = {});
  Tree(Tree&&) noexcept;
  Tree& operator=(Tree&&) noexcept;
  ~Tree();

  /// The file as text. Errors: not_found; refused (leaves the root, no regular file, ignored by
  /// .schedmateignore, a secret such as .env); invalid (binary, beyond a limit). The pointer stays
  /// good as long as the tree. Failures other than not_found are also kept in degraded().
  Result<const TextFile*> read(std::string_view path);
  /// The same lines without keys and passwords (redact): what may leave the process.
  Result<const TextFile*> read_redacted(std::string_view path);
  [[nodiscard]] bool is_file(std::string_view path);
  [[nodiscard]] bool is_folder(std::string_view path);
  /// Entries of one folder, sorted by name; empty when there is no such folder.
  [[nodiscard]] std::vector<TreeEntry> list(std::string_view folder);
  /// Everything below `folder`, in order of path, .git and ignored files left out.
  [[nodiscard]] std::vector<TreeEntry> walk(std::string_view folder);
  /// The rule of the root, for a folder below it. Errors: not_found, refused.
  Result<void> check_owner(std::string_view folder);

  /// Lays a text over the tree, as a here-document or `sed -i` of the job's command does. Pointers
  /// to what stood there stay good. A path outside the tree is kept in degraded().
  void put(std::string_view path, std::string text);

  /// From now on a path below `as`, which is absolute, means one below `folder` of the tree: there
  /// the tree stood when the command was written.
  void add_root(std::string_view as, std::string_view folder);
  /// `path` from the folder `base`, or an absolute one that lies below the root, or below another
  /// name of it, as a path relative to the root. The end of any other absolute path is looked for
  /// in the tree: if it has two folders or more there, that is a name of the root, and is noted.
  /// Errors: as join_path.
  [[nodiscard]] Result<std::string> locate(std::string_view base, std::string_view path);
  /// The file or folder that the longest end of an absolute path names in the tree
  /// ("/data/repo/tools/train.py" -> "tools/train.py"), of at least so many parts. What stands
  /// before a file's is a name of the root from then on, which is noted.
  [[nodiscard]] std::optional<std::string> guess(std::string_view path, std::size_t least_parts);
  /// The text with each of the root's other names as `mark`.
  [[nodiscard]] std::string with_root(std::string_view text, std::string_view mark) const;

  [[nodiscard]] const std::vector<std::string>& files_read() const;  ///< in order of reading
  /// Of the files read, in order of path; written ones left out.
  [[nodiscard]] std::vector<FileVersion> versions() const;
  /// What stands at `path` now, without its hash. Errors: as read().
  [[nodiscard]] Result<FileVersion> look(std::string_view path);
  [[nodiscard]] const std::vector<std::string>& degraded() const;
  void degrade(std::string note);  ///< keeps a note once

 private:
  struct Inside;
  explicit Tree(std::unique_ptr<Inside> inside);
  std::unique_ptr<Inside> inside_;
};

/// One hash for a set of files: over path and content of each, in order of path.
[[nodiscard]] std::string closure_hash(std::span<const FileVersion> files);

/// Whether all files look as they did, by stat alone.
[[nodiscard]] bool unchanged(Tree& tree, std::span<const FileVersion> files);

/// Paths whose content is not what it was. Reads only files that look changed.
[[nodiscard]] std::vector<std::string> changed_files(Tree& tree,
                                                     std::span<const FileVersion> files);

/// "a/./b/../c" -> "a/c"; "." for the root. `base` is the folder that `path` is relative to.
/// Errors: refused (absolute, or leaves the root), invalid (holds a zero byte).
[[nodiscard]] Result<std::string> join_path(std::string_view base, std::string_view path);
/// "a/b/c.py" -> "a/b"; "" for a path without a folder.
[[nodiscard]] std::string folder_of(std::string_view path);

}  // namespace schedmate::tree
