// SPDX-License-Identifier: Apache-2.0
#pragma once

/// One row of a CSV that must be right: the first thing wrong with it is kept with file and line.

#include <cstdint>
#include <functional>
#include <optional>
#include <schedmate/result.hpp>
#include <string>
#include <string_view>

#include "base/table_reader.hpp"
#include "trace/csv.hpp"

namespace schedmate::elastic {

class TableRow {
 public:
  TableRow(const trace::CsvRows& rows, std::string path);

  /// `bounds.low` when the column is absent, no number, or out of bounds.
  [[nodiscard]] double number(std::string_view column, Bounds bounds);
  /// The same, and refused when it is not whole.
  [[nodiscard]] std::int32_t whole(std::string_view column, Bounds bounds);
  /// "" when the column is absent, which is an error.
  [[nodiscard]] std::string_view text(std::string_view column);
  /// "" when the column is absent.
  [[nodiscard]] std::string_view maybe_text(std::string_view column) const;
  void refuse(std::string_view why);
  [[nodiscard]] const std::optional<Error>& error() const { return error_; }

 private:
  const trace::CsvRows& rows_;
  std::string path_;
  std::optional<Error> error_;
};

/// Calls `read` for each row of a text. Errors: the first of a row.
[[nodiscard]] Result<void> parse_table(std::string_view csv, const std::string& file,
                                       const std::function<void(TableRow&)>& read);
/// The same of a file. Errors: of reading it, too.
[[nodiscard]] Result<void> read_table(const std::string& path,
                                      const std::function<void(TableRow&)>& read);

}  // namespace schedmate::elastic
