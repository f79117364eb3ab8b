// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A log cut into blocks of so many whole lines, for those who look at few of them. A plain file
/// costs one pass to find where blocks begin, and memory for that alone; of a compressed or UTF-16
/// one the text is held.

#include <cstdint>
#include <optional>
#include <schedmate/result.hpp>
#include <string>
#include <vector>

#include "base/foreign_file.hpp"
#include "log/lines/lines.hpp"

namespace schedmate::lines {

class LineBlocks {
 public:
  /// A plain file is looked through as far as the budget of its path goes. Errors: as InputFile;
  /// unsupported for a text of more than 256 MiB that must be held.
  static Result<LineBlocks> open(const ForeignPath& path, std::size_t lines_each);

  [[nodiscard]] std::size_t count() const { return begins_.size(); }
  [[nodiscard]] std::uint64_t lines() const { return lines_; }
  /// Why the text ends early; "" = it does not.
  [[nodiscard]] const std::string& fault() const { return fault_; }
  /// The lines of one block, with their numbers in the file. What was cut off the file since is
  /// left out.
  void each_line_of(std::size_t block, const TakeLine& take) const;

 private:
  explicit LineBlocks(std::size_t lines_each) : lines_each_(lines_each) {}
  void index(std::string_view bytes);
  Result<void> index_file(const ForeignPath& path);

  std::size_t lines_each_;
  mutable std::optional<ForeignFile> file_;  ///< of a plain file
  std::string text_;                         ///< of any other
  std::string fault_;
  std::vector<std::uint64_t> begins_;
  std::uint64_t bytes_ = 0;
  std::uint64_t lines_ = 0;
  bool begun_ = false;  ///< the last line has no end yet
};

}  // namespace schedmate::lines
