// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The evaluation book: made of the CSVs alone, each number with the line that it stands on.

#include <schedmate/result.hpp>
#include <string>
#include <vector>

#include "apps/document.hpp"
#include "apps/experiment_file.hpp"
#include "evaluate/figures.hpp"

namespace schedmate {

/// A row of an experiment's CSV and where it stands.
struct BookRow {
  FigureRow row;
  std::size_t line = 0;
};
/// Errors: invalid, with file and line; of reading the file.
[[nodiscard]] Result<std::vector<BookRow>> read_rows_of(const std::string& csv_path);

/// An experiment with its CSV, as the book cites it.
struct Chapter {
  const ExperimentFile& experiment;
  std::vector<BookRow> rows;
  std::string target;  ///< path of the CSV from the document's folder
  std::string origin;  ///< a sentence when this program has not made the rows as they stand
};
/// What is evidence and what is construction, each experiment, and what this does not show.
[[nodiscard]] Document evaluation_book(const std::vector<Chapter>& chapters);

}  // namespace schedmate
