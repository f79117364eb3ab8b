// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The lines of a log file of any size. Lines end at \n only and count from 1. Gzip, zstd and
/// UTF-16 are told by their first bytes; what is left is bytes, and reading never fails on them.

#include <cstdint>
#include <functional>
#include <schedmate/result.hpp>
#include <string>
#include <string_view>

namespace schedmate {

/// Of a longer line only this much is looked at: a line of 1 GB costs no memory.
inline constexpr std::size_t most_line_bytes = std::size_t{1} << 16U;

struct Line {
  std::uint64_t number = 0;  ///< 1-based
  std::string_view text;     ///< valid during the call; without \n; at most most_line_bytes
};

/// Takes a line; false ends the reading.
using TakeLine = std::function<bool(const Line&)>;

/// Calls `take` for each line from the first on. Errors: as InputFile.
[[nodiscard]] Result<void> each_line(const std::string& path, const TakeLine& take);

/// The same over a text in memory.
void each_line_of(std::string_view text, const TakeLine& take);

/// The end of a file from the beginning of a line on.
struct Tail {
  std::string text;       ///< UTF-8 or bytes
  bool complete = false;  ///< it is the whole file
};

/// At least `bytes` of the end (less where the file is shorter), by a seek where the file is plain,
/// by reading it through where it is compressed. Errors: as InputFile.
[[nodiscard]] Result<Tail> tail_of(const std::string& path, std::size_t bytes);

}  // namespace schedmate
