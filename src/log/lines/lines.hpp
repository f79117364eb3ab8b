// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The lines of a log file of any size. Lines end at \n only and count from 1. Gzip, zstd and
/// UTF-16 are recognised by their first bytes; what is left is bytes, and reading never fails on
/// them. Each reading stays within the budget of its path (ReadBudget), and notes what it left out.

#include <cstdint>
#include <functional>
#include <optional>
#include <schedmate/file_access.hpp>
#include <schedmate/result.hpp>
#include <string>
#include <string_view>

#include "base/foreign_file.hpp"

namespace schedmate::lines {

/// Of a longer line only this much is looked at: a line of 1 GB costs no memory.
inline constexpr std::size_t most_line_bytes = std::size_t{1} << 16U;

struct Line {
  std::uint64_t number = 0;  ///< 1-based
  std::string_view text;     ///< valid during the call; without \n; at most most_line_bytes
};

/// Takes a line; false ends the reading.
using TakeLine = std::function<bool(const Line&)>;

/// Cuts a stream of pieces into lines. `take` must outlive it.
class LineCutter {
 public:
  /// `before` lines went before the first piece.
  explicit LineCutter(const TakeLine& take, std::uint64_t before = 0)
      : take_(take), number_(before) {}

  /// Lines before this one are counted only.
  void begin_at(std::uint64_t first) { first_ = first; }
  /// False: the taker wants no more.
  bool add(std::string_view piece);
  /// The last line, where it has no end.
  void finish();
  /// How many lines were cut.
  [[nodiscard]] std::uint64_t lines() const { return number_; }

 private:
  bool give(std::string_view text);
  void skip(std::string_view& piece);

  const TakeLine& take_;
  std::string carry_;
  bool started_ = false;
  std::uint64_t number_ = 0;
  std::uint64_t first_ = 1;
};

/// Calls `take` for each line from number `first` on. Of a file beyond the budget these are its
/// first and its last lines, numbered as if there were none between. Errors: as InputFile.
[[nodiscard]] Result<void> each_line(const ForeignPath& path, const TakeLine& take,
                                     std::uint64_t first = 1);

/// The same over a text in memory.
void each_line_of(std::string_view text, const TakeLine& take);

/// The end of a file from the beginning of a line on.
struct Tail {
  std::string text;       ///< UTF-8 or bytes
  bool complete = false;  ///< it is the whole file
  std::string fault;      ///< why it ends before the file's text does; "" = it does not
};

/// A regular file whose text is neither compressed nor UTF-16.
[[nodiscard]] bool is_plain(ForeignFile& file);
/// "1.5 GiB", for notes on what was read.
[[nodiscard]] std::string in_bytes(std::uint64_t bytes);
/// Without the mark that UTF-8 texts may begin with.
[[nodiscard]] std::string_view without_mark(std::string_view text);

/// At least `bytes` of the end (less where the file is shorter), by a seek where the file is plain,
/// by reading it through where it is compressed. Errors: as InputFile.
[[nodiscard]] Result<Tail> tail_of(const ForeignPath& path, std::size_t bytes);
[[nodiscard]] Result<Tail> tail_of(ForeignFile file, const ForeignPath& path, std::size_t bytes);

}  // namespace schedmate::lines
