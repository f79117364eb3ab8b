// SPDX-License-Identifier: Apache-2.0
#include "evaluation_report/figure_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/check.hpp"
#include "base/input.hpp"
#include "base/text.hpp"
#include "study/elastic_study.hpp"
#include "trace/csv.hpp"

namespace schedmate::evaluation_report {
namespace {

constexpr ColumnRow all_columns[] = {
    {"ln_ratio", "ln ratio", FigureFormat::logarithm},
    {"upper95", "upper 95 %", FigureFormat::logarithm},
    {"jct_ratio", "average JCT x", FigureFormat::factor},
    {"bound", "bound x", FigureFormat::factor},
    {"bound_share", "share of bound", FigureFormat::percent},
    {"jct_s", "average JCT, s", FigureFormat::seconds},
    {"jct_p50_s", "p50, s", FigureFormat::seconds},
    {"jct_p99_s", "p99, s", FigureFormat::seconds},
    {"ratio_p50", "p50 of ratio", FigureFormat::factor},
    {"ratio_p99", "p99 of ratio", FigureFormat::factor},
    {"slowed_2x", "slowed > 2x", FigureFormat::percent},
    {"makespan_s", "makespan, s", FigureFormat::seconds},
    {"packed_share", "packed", FigureFormat::percent},
    {"unfinished", "unfinished", FigureFormat::count},
    {"longer95", "average JCT longer by, 95 %", FigureFormat::percent},
    {"restarts", "restarts a job", FigureFormat::factor},
    {"matched", "matched", FigureFormat::percent},
    {"oracle_share", "share of oracle", FigureFormat::percent},
    {"over_last_k", "over last_k", FigureFormat::logarithm},
    {"over_own", "over own", FigureFormat::logarithm},
    {"over_all", "over all", FigureFormat::logarithm},
    {"within_10", "within 10 %", FigureFormat::percent},
    {"within_20", "within 20 %", FigureFormat::percent},
    {"within_50", "within 50 %", FigureFormat::percent},
    {"within_100", "within 100 %", FigureFormat::percent},
    {"within_200", "within 200 %", FigureFormat::percent},
    {"within_500", "within 500 %", FigureFormat::percent},
    {"use_within_5", "use within 5 %", FigureFormat::percent},
    {"use_within_10", "use within 10 %", FigureFormat::percent},
    {"use_within_20", "use within 20 %", FigureFormat::percent},
    {"use_within_50", "use within 50 %", FigureFormat::percent},
    {"use_within_100", "use within 100 %", FigureFormat::percent},
    {"median_error", "median error", FigureFormat::percent},
    {"given", "estimate given", FigureFormat::percent},
    {"use_given", "use predicted", FigureFormat::percent},
    {"use_error", "mean error of GPU use", FigureFormat::percent}};

/// Without its unit.
std::string shown(double value, FigureFormat format) {
  if (std::isnan(value)) return "-";
  switch (format) {
    case FigureFormat::logarithm:
      return fmt::format("{:+.4f}", value);
    case FigureFormat::factor:
      return fmt::format("{:.3f}", value);
    case FigureFormat::seconds:
      return fmt::format("{:.0f}", value);
    case FigureFormat::percent:
      return fmt::format("{:.1f}", 100 * value);
    case FigureFormat::count:
      return fmt::format("{:.1f}", value);
  }
  return "";
}

/// What stands behind a value: nothing where all perturbations agree, half the width where both
/// halves are printed alike, else the ends.
std::string interval_of(const study::Interval& interval, FigureFormat format) {
  if (std::isnan(interval.low) || interval.low == interval.high) return "";
  const std::string below = shown(interval.value - interval.low, format);
  if (below != shown(interval.high - interval.value, format))
    return fmt::format(" ({} to {})", shown(interval.low, format), shown(interval.high, format));
  return " ±" + below.substr(below.starts_with('+') ? 1 : 0);
}

/// "threshold" of "lucid+sm:threshold={at}", all of "advisor:{at}"; "" where there is no point.
std::string swept_option(std::string_view policy) {
  constexpr std::string_view hole = "{at}";
  const std::size_t point = policy.find(hole);
  if (point == std::string_view::npos) return "";
  std::string_view option = policy.substr(0, point + hole.size());
  if (const auto comma = option.rfind(','); comma != std::string_view::npos)
    option.remove_prefix(comma + 1);
  else if (const auto colon = option.find(':'); colon + 1 < point)
    option.remove_prefix(colon + 1);
  const std::string_view set = option.substr(0, option.size() - hole.size());
  return std::string(set.ends_with('=') ? set.substr(0, set.size() - 1) : option);
}

double number_of(std::string_view text) {
  return parse_number<double>(text).value_or(std::nan(""));
}

}  // namespace

Result<std::vector<FigureLine>> read_rows_of(const std::string& csv_path) {
  const auto text = read_file(csv_path);
  if (!text) return tl::unexpected(text.error());
  auto rows = trace::CsvRows::open(*text, csv_path);
  if (!rows) return tl::unexpected(rows.error());
  std::map<std::string_view, trace::Column> columns;
  for (const std::string_view name :
       {"experiment", "trace", "at", "arm", "host", "policy", "figure", "value", "low", "high", "n",
        "note", "workload_sha256", "command"}) {
    const auto column = rows->need(name);
    if (!column) return tl::unexpected(column.error());
    columns[name] = *column;
  }
  const auto field = [&](std::string_view name) { return std::string(rows->field(columns[name])); };
  std::vector<FigureLine> read;
  while (rows->next()) {
    FigureLine at;
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

bool is_elastic(const study::ExperimentFile& experiment) {
  return study::is_elastic_trace(experiment.traces.front().spec);
}

std::vector<std::string> shown_traces(const study::ExperimentFile& experiment) {
  if (is_elastic(experiment) && experiment.traces.size() > 1) return {"all"};
  std::vector<std::string> names;
  for (const study::ExperimentTrace& trace : experiment.traces) names.push_back(trace.name);
  return names;
}

std::string swept_name(const study::ExperimentFile& experiment) {
  if (!experiment.sweep.empty()) return experiment.sweep;
  std::string names;
  std::set<std::string> listed;
  for (const study::ExperimentArm& arm : experiment.arms) {
    std::string name = swept_option(arm.policy);
    if (!name.empty() && listed.insert(name).second) names += (names.empty() ? "" : ", ") + name;
  }
  return names.empty() ? "at" : names;
}

const FigureLine* ArmRows::find(std::string_view figure) const {
  const auto found = figures.find(figure);
  return found == figures.end() ? nullptr : found->second;
}

std::vector<ArmRows> arms_of(const Chapter& chapter, const std::string& trace) {
  std::vector<ArmRows> arms;
  for (const FigureLine& at : chapter.rows) {
    const study::FigureRow& row = at.row;
    if (row.trace != trace || row.arm.empty()) continue;
    const bool same =
        !arms.empty() && arms.back().first->arm == row.arm && arms.back().first->at == row.at;
    if (!same) arms.push_back({&row, {}});
    arms.back().figures[row.figure] = &at;
  }
  return arms;
}

std::span<const ColumnRow> figure_columns() { return all_columns; }

const ColumnRow& column_of(std::string_view figure) {
  const auto found = std::ranges::find(all_columns, figure, &ColumnRow::figure);
  SCHEDMATE_CHECK(found != std::end(all_columns), "the report has a column for the figure");
  return *found;
}

Cell cell_of(const Chapter& chapter, const FigureLine* at, FigureFormat format) {
  if (at == nullptr) return {""};
  const study::Interval& interval = at->row.interval;
  if (at->row.note == "no head-room") return {at->row.note, chapter.target, at->line};
  std::string text = shown(interval.value, format) + interval_of(interval, format);
  if (format == FigureFormat::percent) text += " %";
  if (at->row.note == "holds") text += " safe";
  if (at->row.note == "exceeds") text += " EXCEEDS";
  return {std::move(text), chapter.target, at->line};
}

}  // namespace schedmate::evaluation_report
