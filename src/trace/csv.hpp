// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Rows of a delimited text with a header line (RFC 4180: quotes, doubled quotes, line ends within
/// quotes, CRLF). The text must outlive the rows, and the views that `field` gives are valid until
/// the next call of `next`. A broken row never ends the reading: `fault` says what is wrong with
/// it and the next line is a row again.

#include <cstdint>
#include <deque>
#include <optional>
#include <schedmate/result.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace schedmate::trace {

/// Which column; `absent` when the header has no such name.
using Column = std::size_t;
inline constexpr Column absent = SIZE_MAX;

class CsvRows {
 public:
  /// Reads the header. Errors: invalid when there is none. `name` is for messages.
  static Result<CsvRows> open(std::string_view text, std::string name, char delimiter = ',');

  /// The column with this header (letter case does not matter), or `absent`.
  [[nodiscard]] Column find(std::string_view header) const;
  /// The same, but error invalid, naming the file and the nearest header, when it is absent.
  [[nodiscard]] Result<Column> need(std::string_view header) const;

  /// Goes to the next row; false at the end. Empty lines are passed over.
  bool next();
  /// What is wrong with the row as such, or "".
  [[nodiscard]] std::string_view fault() const { return fault_; }
  /// One field without blanks around it; "" for an absent column.
  [[nodiscard]] std::string_view field(Column column) const {
    return column < fields_.size() ? fields_[column].text : std::string_view{};
  }

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::vector<std::string>& header() const { return header_; }
  [[nodiscard]] std::uint64_t line() const { return row_line_; }
  /// Where the field begins in its line, from 1; 0 for an absent column.
  [[nodiscard]] std::size_t position(Column column) const;

 private:
  struct Field {
    std::string_view text;
    const char* begin = nullptr;
  };
  CsvRows(std::string_view text, std::string name, char delimiter);
  bool read_row();
  const char* read_plain(const char* at);
  const char* read_quoted(const char* at);
  void end_of_row(const char* at);
  void give_up(std::string_view fault);

  std::string_view text_;
  std::string name_;
  char delimiter_;
  std::vector<std::string> header_;
  std::vector<Field> fields_;
  std::deque<std::string> unquoted_;  // fields with doubled quotes, rewritten
  std::string_view fault_;
  const char* row_begin_ = nullptr;
  const char* rest_ = nullptr;  // begin of the next line
  std::uint64_t row_line_ = 0;
  std::uint64_t next_line_ = 1;
};

}  // namespace schedmate::trace
