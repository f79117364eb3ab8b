// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What a log says, small enough to ask (paper 3.2, Query Engine): its distinct lines with how
/// often and where they stand. A log of gigabytes has a few thousand of them.

#include <cstdint>
#include <functional>
#include <schedmate/file_access.hpp>
#include <schedmate/result.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "log/lines/clean.hpp"

namespace schedmate::ask {

struct IndexedLine {
  std::uint64_t number = 0;  ///< 1-based
  std::string text;          ///< without escapes and secrets, at most 300 characters
};

/// All lines of one template.
struct DistinctLine {
  std::uint64_t hash = 0;
  std::uint64_t count = 0;
  IndexedLine first, last;
};

struct LogIndex {
  /// At most this many templates; lines of further ones are counted in `lost`.
  static constexpr std::size_t most = 20'000;

  std::uint64_t lines = 0, lost = 0;
  std::vector<DistinctLine> distinct_lines;  ///< in the order of their first lines
};

/// Takes secrets out of what an index keeps. `learn` is given the log in pieces of some
/// MiB; then `clean` the lines that are kept, as one text whose lines it keeps.
struct IndexCleaner {
  std::function<void(std::string_view)> learn{};
  lines::CleanText clean{};
};

/// Reads the whole file once. Errors: those of opening it; what could be read before a damaged end
/// of a compressed file counts.
[[nodiscard]] Result<LogIndex> index_log(const ForeignPath& path, const IndexCleaner& cleaner = {});

/// Which state of a file an index belongs to.
struct FileMark {
  std::string path;  ///< absolute
  std::uint64_t bytes = 0, inode = 0;
  std::int64_t mtime_ns = 0;
  bool operator==(const FileMark&) const = default;
};
[[nodiscard]] Result<FileMark> mark_of(const ForeignPath& path);

/// The index kept in `folder` while the file is as it was, else a new one, which is kept. At most
/// `most_cached_indexes` logs are, the oldest goes first. Nobody but the owner may read them. A
/// folder that cannot be written costs only time.
inline constexpr std::size_t most_cached_indexes = 64;
[[nodiscard]] Result<LogIndex> cached_index(const ForeignPath& path, const std::string& folder,
                                            const IndexCleaner& cleaner = {});
/// Removes what is kept of a log; nothing happens when nothing is.
void forget_index(const std::string& path, const std::string& folder);

}  // namespace schedmate::ask
