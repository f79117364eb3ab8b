// SPDX-License-Identifier: Apache-2.0
#include "apps/book.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "apps/book_pages.hpp"
#include "apps/elastic_study.hpp"
#include "base/input.hpp"
#include "base/text.hpp"
#include "trace/csv.hpp"

namespace schedmate {
namespace {

/// How a figure is printed.
enum class Look : std::uint8_t { logarithm, factor, seconds, percent, count };
struct ColumnRow {
  std::string_view figure, title;
  Look look;
};
constexpr ColumnRow figure_columns[] = {{"ln_ratio", "ln ratio", Look::logarithm},
                                        {"upper95", "upper 95 %", Look::logarithm},
                                        {"jct_ratio", "average JCT x", Look::factor},
                                        {"jct_s", "average JCT, s", Look::seconds},
                                        {"jct_p50_s", "p50, s", Look::seconds},
                                        {"jct_p99_s", "p99, s", Look::seconds},
                                        {"ratio_p50", "p50 of ratio", Look::factor},
                                        {"ratio_p99", "p99 of ratio", Look::factor},
                                        {"slowed_2x", "slowed > 2x", Look::percent},
                                        {"makespan_s", "makespan, s", Look::seconds},
                                        {"packed_share", "packed", Look::percent},
                                        {"unfinished", "unfinished", Look::count},
                                        {"longer95", "average JCT longer by, 95 %", Look::percent},
                                        {"restarts", "restarts a job", Look::factor},
                                        {"matched", "matched", Look::percent},
                                        {"oracle_share", "share of oracle", Look::percent},
                                        {"over_last_k", "over last_k", Look::logarithm},
                                        {"over_metadata", "over metadata", Look::logarithm},
                                        {"over_all", "over all", Look::logarithm},
                                        {"within_10", "within 10 %", Look::percent},
                                        {"within_20", "within 20 %", Look::percent},
                                        {"within_50", "within 50 %", Look::percent},
                                        {"within_100", "within 100 %", Look::percent},
                                        {"within_200", "within 200 %", Look::percent},
                                        {"within_500", "within 500 %", Look::percent},
                                        {"median_error", "median error", Look::percent},
                                        {"given", "estimate given", Look::percent},
                                        {"use_given", "use foretold", Look::percent},
                                        {"use_error", "mean error of GPU use", Look::percent}};

std::string shown(double value, Look look) {
  if (std::isnan(value)) return "-";
  switch (look) {
    case Look::logarithm:
      return fmt::format("{:+.4f}", value);
    case Look::factor:
      return fmt::format("{:.3f}", value);
    case Look::seconds:
      return fmt::format("{:.0f}", value);
    case Look::percent:
      return fmt::format("{:.1f} %", 100 * value);
    case Look::count:
      return fmt::format("{:.1f}", value);
  }
  return "";
}

Cell cell_of(const Chapter& chapter, const BookRow& at, Look look) {
  const Interval& interval = at.row.interval;
  std::string text = at.row.note == "no head-room" ? at.row.note : shown(interval.value, look);
  if (at.row.note == "holds") text += " safe";
  if (at.row.note == "exceeds") text += " EXCEEDS";
  if (!std::isnan(interval.low))
    text += fmt::format(" ({} to {})", shown(interval.low, look), shown(interval.high, look));
  return {std::move(text), fmt::to_string(at.line), fmt::format("{}#L{}", chapter.target, at.line)};
}

/// The rows of one arm at one point, by figure.
using ByFigure = std::map<std::string_view, const BookRow*>;
struct ArmRows {
  const FigureRow* first;
  ByFigure figures;
};

std::vector<ArmRows> arms_of(const Chapter& chapter, const std::string& trace) {
  std::vector<ArmRows> arms;
  for (const BookRow& at : chapter.rows) {
    const FigureRow& row = at.row;
    if (row.trace != trace || row.arm.empty()) continue;
    const bool same =
        !arms.empty() && arms.back().first->arm == row.arm && arms.back().first->at == row.at;
    if (!same) arms.push_back({&row, {}});
    arms.back().figures[row.figure] = &at;
  }
  return arms;
}

void add_arms(Document& book, const Chapter& chapter, const std::string& trace) {
  const auto arms = arms_of(chapter, trace);
  const bool swept =
      std::ranges::any_of(arms, [](const auto& arm) { return !arm.first->at.empty(); });
  std::vector<const ColumnRow*> columns;
  for (const ColumnRow& column : figure_columns) {
    const auto has = [&](const ArmRows& arm) { return arm.figures.contains(column.figure); };
    if (std::ranges::any_of(arms, has)) columns.push_back(&column);
  }
  std::vector<Cell> head;
  if (swept) head.push_back({"at"});
  head.push_back({"arm"});
  head.push_back({"against"});
  for (const ColumnRow* column : columns) head.push_back({std::string(column->title)});
  std::vector<std::vector<Cell>> rows{head};
  for (const ArmRows& arm : arms) {
    std::vector<Cell> cells;
    if (swept) cells.push_back({arm.first->at});
    cells.push_back({arm.first->arm});
    cells.push_back({arm.first->host});
    for (const ColumnRow* column : columns) {
      const auto found = arm.figures.find(column->figure);
      cells.push_back(found == arm.figures.end() ? Cell{""}
                                                 : cell_of(chapter, *found->second, column->look));
    }
    rows.push_back(std::move(cells));
  }
  book.table(std::move(rows));
}

/// Once for each workload of the book.
void add_pairs(Document& book, const Chapter& chapter, std::set<std::string>& shown_before) {
  std::vector<std::vector<Cell>> rows{{{"speed of a member from"}, {"members"}}};
  std::string workload;
  std::set<std::string> seen;
  for (const BookRow& at : chapter.rows) {
    constexpr std::string_view prefix = "pairs_";
    if (!at.row.figure.starts_with(prefix)) continue;
    if (workload.empty() && !shown_before.insert(at.row.workload_sha256).second) return;
    if (workload.empty()) workload = at.row.workload_sha256;
    if (at.row.workload_sha256 != workload || !seen.insert(at.row.figure).second) break;
    if (at.row.interval.n == 0) continue;
    Cell cell = cell_of(chapter, at, Look::percent);
    cell.text = fmt::format("{} ({})", at.row.interval.n, cell.text);
    rows.push_back({{at.row.figure.substr(prefix.size())}, std::move(cell)});
  }
  if (rows.size() == 1) return;
  book.paragraph(
      fmt::format("How pairs that Lucid lets share GPUs slow each other down in the "
                  "invented workload {}, in bins of 0.05:",
                  workload));
  book.table(std::move(rows));
}

bool is_elastic_chapter(const ExperimentFile& experiment) {
  return experiment.traces.front().spec.starts_with(elastic_prefix);
}

void add_chapter(Document& book, const Chapter& chapter, std::set<std::string>& workloads) {
  const ExperimentFile& experiment = chapter.experiment;
  book.heading(2, experiment.title);
  if (!experiment.claim.empty()) book.paragraph("Claim: " + experiment.claim);
  std::vector<std::string> points;
  for (const std::string& each : experiment.published) points.push_back("Published: " + each);
  for (const auto& [key, value] : experiment.settings)
    points.push_back(fmt::format("Setting: {} = {}", key, value));
  const bool elastic = is_elastic_chapter(experiment);
  points.push_back(elastic ? fmt::format("{} perturbations", experiment.perturbations)
                           : fmt::format("{} perturbations; the first {:g} days are left out",
                                         experiment.perturbations, experiment.warm_up_days));
  book.list(points);
  if (!chapter.origin.empty()) book.paragraph(chapter.origin);
  if (chapter.rows.empty()) return;
  book.code(chapter.rows.front().row.command);
  const bool together = elastic && experiment.traces.size() > 1;
  for (const ExperimentTrace& trace : experiment.traces) {
    if (together) break;  // each by itself stands in the CSV
    book.heading(3, fmt::format("{}: {}", experiment.name, trace.name));
    if (!trace.like.empty())
      book.paragraph(
          fmt::format("Synthetic rows, drawn like {} from published tables.", trace.like));
    add_arms(book, chapter, trace.name);
    if (!elastic) book.paragraph(construction_note());
  }
  if (together) {
    book.heading(3, experiment.name + ": all jobs together");
    add_arms(book, chapter, "all");
  }
  if (elastic) book.paragraph(elastic_note());
  add_pairs(book, chapter, workloads);
}

double number_of(std::string_view text) {
  return parse_number<double>(text).value_or(std::nan(""));
}

}  // namespace

Result<std::vector<BookRow>> read_rows_of(const std::string& csv_path) {
  const auto text = read_file(csv_path);
  if (!text) return tl::unexpected(text.error());
  auto rows = CsvRows::open(*text, csv_path);
  if (!rows) return tl::unexpected(rows.error());
  std::map<std::string_view, Column> columns;
  for (const std::string_view name :
       {"experiment", "trace", "at", "arm", "host", "policy", "figure", "value", "low", "high", "n",
        "note", "workload_sha256", "command"}) {
    const auto column = rows->need(name);
    if (!column) return tl::unexpected(column.error());
    columns[name] = *column;
  }
  const auto field = [&](std::string_view name) { return std::string(rows->field(columns[name])); };
  std::vector<BookRow> read;
  while (rows->next()) {
    BookRow at;
    at.line = static_cast<std::size_t>(rows->line());
    at.row = {field("experiment"), field("trace"),           field("at"),     field("arm"),
              field("host"),       field("policy"),          field("figure"), {},
              field("note"),       field("workload_sha256"), field("command")};
    at.row.interval = {number_of(field("value")), number_of(field("low")), number_of(field("high")),
                       parse_number<std::uint64_t>(field("n")).value_or(0)};
    read.push_back(std::move(at));
  }
  return read;
}

Document evaluation_book(const std::vector<Chapter>& chapters) {
  Document book;
  add_front_page(book);
  std::set<std::string> workloads;
  for (const Chapter& chapter : chapters) add_chapter(book, chapter, workloads);
  add_limits_page(book);
  return book;
}

}  // namespace schedmate
