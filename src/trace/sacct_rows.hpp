// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Rows of `sacct --parsable2`. sacct neither quotes nor escapes: a '"' is an ordinary character, a
/// '|' in a submit line makes fields of it, and a line end there breaks the row. Both happen only
/// in fields that users write (JobName, SubmitLine, ...), and so rows are put together again: a
/// line that cannot begin a row belongs to the row before it, and fields too many belong to
/// SubmitLine where the fields that users write stand side by side. A line that is an error message
/// of sacct's is a row with a fault. The text must outlive the rows;
/// what `field` gives is valid until the next call of `next`.

#include <cstdint>
#include <schedmate/result.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace schedmate::trace {

class SacctRows {
 public:
  using Column = std::size_t;
  static constexpr Column none = SIZE_MAX;

  /// Reads the header. Errors: invalid; the message says what the text is instead and how to get
  /// it right.
  static Result<SacctRows> open(std::string_view text, std::string name);

  /// The column of the first of these headers (letter case does not matter), or `none`.
  [[nodiscard]] Column find(std::span<const std::string_view> headers) const;
  [[nodiscard]] Column find(std::string_view header) const { return find({&header, 1}); }
  [[nodiscard]] const std::vector<std::string>& header() const { return header_; }

  /// Goes to the next row; false at the end. Empty lines and repeated headers are passed over.
  bool next();
  /// What is wrong with the row as such, or "".
  [[nodiscard]] std::string_view fault() const { return fault_; }
  [[nodiscard]] std::string_view field(Column column) const {
    return column < fields_.size() ? fields_[column] : std::string_view{};
  }
  [[nodiscard]] std::uint64_t line() const { return row_line_; }
  /// Where the field begins in its row, from 1; 0 for `none`.
  [[nodiscard]] std::size_t position(Column column) const;
  /// Share of the text that has been read.
  [[nodiscard]] double done() const;

 private:
  SacctRows(std::string_view text, std::string name);
  std::string_view take_line();
  void find_written_fields();
  [[nodiscard]] bool begins_row(std::string_view line) const;
  void split_row(std::string_view row);
  void join_extra_fields();
  [[nodiscard]] bool is_whole() const;
  void take_row(std::string_view line);
  void pass_to_row();

  std::string_view text_;
  std::string name_;
  std::size_t at_ = 0;
  std::uint64_t next_line_ = 1;
  std::uint64_t row_line_ = 0;
  std::vector<std::string> header_;  // lower case
  std::string_view header_line_;
  Column id_ = none;
  std::vector<bool> written_;  // by column: a field that users write
  bool side_by_side_ = false;  // those fields are, and none of Slurm's is between them
  Column widest_ = none;       // the one that takes what is too much
  std::string_view row_;
  std::string joined_;  // of a row that was broken over lines
  std::vector<std::string_view> fields_;
  std::string_view fault_;
};

}  // namespace schedmate::trace
