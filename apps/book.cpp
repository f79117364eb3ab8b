// SPDX-License-Identifier: Apache-2.0
#include "apps/book.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "apps/book_claims.hpp"
#include "apps/book_pages.hpp"
#include "apps/book_recovery.hpp"
#include "apps/book_summary.hpp"

namespace schedmate {
namespace {

/// Not a figure that is the same in all arms, as the packed share of hosts that never pack.
bool tells_apart(const ColumnRow& column, const std::vector<ArmRows>& arms) {
  std::vector<const FigureRow*> rows;
  for (const ArmRows& arm : arms)
    if (const BookRow* at = arm.find(column.figure)) rows.push_back(&at->row);
  return rows.size() == 1 || std::ranges::any_of(rows, [&](const FigureRow* row) {
           return !row->note.empty() || row->interval.value != rows.front()->interval.value;
         });
}

/// Of a sweep only what is compared along it; the rest is in the CSV.
bool is_left_out(const ColumnRow& column) {
  constexpr auto rest = std::to_array<std::string_view>(
      {"jct_s", "jct_p50_s", "jct_p99_s", "ratio_p50", "ratio_p99", "makespan_s", "packed_share",
       "restarts", "within_10", "within_20", "within_50", "within_200", "within_500",
       "use_within_5", "use_within_10", "use_within_20", "use_within_50", "use_within_100"});
  return std::ranges::find(rest, column.figure) != rest.end();
}

/// What the labels stand for, "" where they are policies.
std::string labels_of(const std::vector<ArmRows>& arms) {
  std::string text;
  std::set<std::string> told;
  for (const ArmRows& arm : arms) {
    const FigureRow& row = *arm.first;
    if (row.policy == row.arm) continue;
    if (told.insert(row.arm).second)
      text += fmt::format("{}{} = {}", text.empty() ? "Arms: " : "; ", row.arm, row.policy);
  }
  return text.empty() ? text : text + ".";
}

/// How many jobs count, and of which arms fewer have ended.
void add_jobs(Document& book, const Chapter& chapter, const std::string& trace,
              const std::vector<ArmRows>& arms) {
  const auto submitted = std::ranges::find_if(chapter.rows, [&](const BookRow& at) {
    return at.row.trace == trace && at.row.figure == "submitted";
  });
  if (submitted == chapter.rows.end()) return;
  const double all = submitted->row.interval.value;
  std::string fewer;
  std::set<std::string> told;
  for (const ArmRows& arm : arms) {
    const BookRow* jobs = arm.find("jobs");
    if (jobs == nullptr || jobs->row.interval.value >= all) continue;
    if (!told.insert(arm.first->arm).second) continue;
    fewer += fmt::format("{}{} {:g} :{}", fewer.empty() ? "; ended in host and arm: " : ", ",
                         arm.first->arm, jobs->row.interval.value, jobs->line);
  }
  book.paragraph(fmt::format("{:g} jobs after the warm-up :{}{}.", all, submitted->line, fewer));
}

/// Where all arms have the same host nobody has to be told in each row.
bool has_one_host(const std::vector<ArmRows>& arms) {
  return !arms.empty() && std::ranges::all_of(arms, [&](const ArmRows& arm) {
    return arm.first->host == arms.front().first->host;
  });
}

void add_arms(Document& book, const Chapter& chapter, const std::vector<ArmRows>& arms) {
  const bool swept =
      std::ranges::any_of(arms, [](const auto& arm) { return !arm.first->at.empty(); });
  const bool one_host = has_one_host(arms);
  std::vector<const ColumnRow*> columns;
  for (const ColumnRow& column : figure_columns())
    if (tells_apart(column, arms) && !(swept && is_left_out(column))) columns.push_back(&column);
  std::vector<Cell> head;
  if (swept) head.push_back({chapter.experiment.sweep.empty() ? "at" : chapter.experiment.sweep});
  head.push_back({"arm"});
  if (!one_host) head.push_back({"against"});
  for (const ColumnRow* column : columns) head.push_back({std::string(column->title)});
  std::vector<std::vector<Cell>> rows{head};
  for (const ArmRows& arm : arms) {
    const auto told = [&](const ColumnRow* column) { return arm.find(column->figure) != nullptr; };
    if (std::ranges::none_of(columns, told)) continue;  // a host in a sweep
    std::vector<Cell> cells;
    if (swept) cells.push_back({named_point(chapter.experiment, arm.first->at)});
    cells.push_back({arm.first->arm});
    if (!one_host) cells.push_back({arm.first->host});
    for (const ColumnRow* column : columns)
      cells.push_back(cell_of(chapter, arm.find(column->figure), column->look));
    rows.push_back(std::move(cells));
  }
  book.table(std::move(rows), chapter.target);
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
    Cell cell = cell_of(chapter, &at, Look::percent);
    cell.text = fmt::format("{} ({})", at.row.interval.n, cell.text);
    rows.push_back({{at.row.figure.substr(prefix.size())}, std::move(cell)});
  }
  if (rows.size() == 1) return;
  book.paragraph(
      fmt::format("How pairs that Lucid lets share GPUs slow each other down in the "
                  "invented workload {}, in bins of 0.05:",
                  workload));
  book.table(std::move(rows), chapter.target);
}

void add_chapter(Document& book, const Chapter& chapter, std::set<std::string>& workloads) {
  const ExperimentFile& experiment = chapter.experiment;
  book.heading(2, experiment.title);
  if (!experiment.claim.empty()) book.paragraph("Claim: " + experiment.claim);
  std::vector<std::string> points;
  for (const std::string& each : experiment.published) points.push_back("Published: " + each);
  for (const auto& [key, value] : experiment.settings)
    points.push_back(fmt::format("Setting: {} = {}", key, value));
  const bool elastic = is_elastic(experiment);
  points.push_back(elastic ? fmt::format("{} perturbations", experiment.perturbations)
                           : fmt::format("{} perturbations; the first {:g} days are left out",
                                         experiment.perturbations, experiment.warm_up_days));
  book.list(points);
  if (!chapter.origin.empty()) book.paragraph(chapter.origin);
  if (chapter.rows.empty()) return;
  book.code(chapter.rows.front().row.command);
  std::string told;  // of one trace, mostly true of the others
  for (const std::string& trace : shown_traces(experiment)) {
    const auto arms = arms_of(chapter, trace);
    book.heading(
        3, fmt::format("{}: {}{}", experiment.name, trace == "all" ? "all jobs together" : trace,
                       has_one_host(arms) ? ", against " + arms.front().first->host : ""));
    const auto found = std::ranges::find(experiment.traces, trace, &ExperimentTrace::name);
    if (found != experiment.traces.end() && !found->like.empty())
      book.paragraph(
          fmt::format("Synthetic rows, drawn like {} from published tables.", found->like));
    add_arms(book, chapter, arms);
    if (std::string labels = labels_of(arms); !labels.empty() && labels != told) {
      book.paragraph(labels);
      told = std::move(labels);
    }
    add_jobs(book, chapter, trace, arms);
    add_recovery(book, chapter, trace);
  }
  book.paragraph(elastic                ? elastic_note()
                 : experiment.estimates ? estimates_note()
                                        : construction_note());
  add_pairs(book, chapter, workloads);
}

}  // namespace

Document evaluation_book(const std::vector<Chapter>& chapters) {
  Document book;
  add_front_page(book);
  add_claims(book, chapters);
  add_summary(book, chapters);
  add_bounds_page(book, chapters);
  std::set<std::string> workloads;
  for (const Chapter& chapter : chapters) add_chapter(book, chapter, workloads);
  add_limits_page(book);
  return book;
}

}  // namespace schedmate
