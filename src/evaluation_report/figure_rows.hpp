// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What the evaluation report is made of: rows of CSVs, and how a figure is printed.

#include <cstdint>
#include <map>
#include <schedmate/result.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "evaluation_report/page.hpp"
#include "study/experiment_file.hpp"
#include "study/figures.hpp"

namespace schedmate::evaluation_report {

/// A row of an experiment's CSV and where it stands.
struct FigureLine {
  study::FigureRow row;
  std::size_t line = 0;
};
/// Errors: invalid, with file and line; of reading the file.
[[nodiscard]] Result<std::vector<FigureLine>> read_rows_of(const std::string& csv_path);

/// An experiment with its CSV, as the report cites it.
struct Chapter {
  const study::ExperimentFile& experiment;
  std::vector<FigureLine> rows;
  std::string target;       ///< path of the CSV from the document's folder
  std::string origin;       ///< a sentence when this program has not made the rows as they stand
  bool is_earlier = false;  ///< made by earlier code or from earlier inputs
};
[[nodiscard]] bool is_elastic(const study::ExperimentFile& experiment);
/// The traces that the report shows: of several elastic ones all jobs together, as `all`.
[[nodiscard]] std::vector<std::string> shown_traces(const study::ExperimentFile& experiment);

/// The swept setting, or the options of policies that hold the point.
[[nodiscard]] std::string swept_name(const study::ExperimentFile& experiment);

/// The rows of one arm at one point of a sweep, by figure.
struct ArmRows {
  const study::FigureRow* first;
  std::map<std::string_view, const FigureLine*> figures;
  [[nodiscard]] const FigureLine* find(std::string_view figure) const;
};
[[nodiscard]] std::vector<ArmRows> arms_of(const Chapter& chapter, const std::string& trace);

/// How a figure is printed.
enum class FigureFormat : std::uint8_t { logarithm, factor, seconds, percent, count };
struct ColumnRow {
  std::string_view figure, title;
  FigureFormat format;
};
[[nodiscard]] std::span<const ColumnRow> figure_columns();
[[nodiscard]] const ColumnRow& column_of(std::string_view figure);
/// With its interval and verdict, and the line on which it stands; empty without a row.
[[nodiscard]] Cell cell_of(const Chapter& chapter, const FigureLine* at, FigureFormat format);

}  // namespace schedmate::evaluation_report
