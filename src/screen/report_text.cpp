// SPDX-License-Identifier: Apache-2.0
#include "screen/report_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/table.hpp"
#include "screen/screen.hpp"

namespace schedmate::screen {
namespace {

using service::ReportGroup;
using service::ReportJob;
using service::UsageReport;

constexpr std::size_t most_causes = 8;
constexpr std::size_t most_nodes = 8;

std::string hours(double value) {
  return value < 10 ? fmt::format("{:.2f}", value) : fmt::format("{:.0f}", value);
}

/// Why a job did not complete, or one that did has hours that are lost.
std::string cause_text(const ReportJob& job) {
  if (job.state != "completed") return job.cause;
  const std::size_t attempts = job.record.outcome->attempts.size();
  return attempts > 1 ? fmt::format("attempt {}", attempts) : "";
}

std::string totals_text(const UsageReport& report, const ScreenStyle& style) {
  const ReportGroup& total = report.total;
  const std::string until = style.date(seconds_of(report.until));
  const std::string period =
      seconds_of(report.since) > 0
          ? fmt::format("from {} to {}", style.date(seconds_of(report.since)), until)
          : fmt::format("until {}", until);
  const auto line = [&](const std::string& text) { return style.fit(text) + "\n"; };
  std::string text = line(fmt::format("jobs that ended {}, by {}", period, report.source));
  text +=
      line(fmt::format("{} jobs: {} completed, {} failed, {} timed out, {} cancelled", total.jobs,
                       total.completed, total.failed, total.timeout, total.cancelled));
  std::string cost = fmt::format("{} GPU-hours: {} lost to failures and time-outs",
                                 hours(total.gpu_hours), hours(total.lost_gpu_hours));
  cost += total.gpu_util_pct ? fmt::format(", {} idle (GPUs busy {:.0f} %)",
                                           hours(total.idle_gpu_hours), *total.gpu_util_pct)
                             : ", GPU use not measured";
  text += line(cost);
  if (total.energy_jobs > 0)
    text += line(fmt::format("{} of energy, measured for {} of {} jobs",
                             energy_in_words(total.energy_j), total.energy_jobs, total.jobs));
  return text;
}

/// The names that seff's users know: JobID, State, Elapsed, TimeEff, CPUEff, MemEff, GPUEff.
std::string jobs_table(const UsageReport& report, const ScreenStyle& style, std::size_t most) {
  const std::vector<TableColumn> columns = {
      {"JobID", 0},        {"User", 1},          {"Name", 8},
      {"State", 0},        {"Ended", 7},         {"Elapsed", 0, true},
      {"Waited", 9, true}, {"TimeEff", 3, true}, {"CPUEff", 2, true},
      {"MemEff", 2, true}, {"GPUEff", 1, true},  {"GPUMem", 5, true},
      {"GPUs", 6, true},   {"GPU-h", 4, true},   {"Energy", 9, true},
      {"Wasted", 2, true}, {"Nodes", 10},        {"Cause", 1, false, 12}};
  std::vector<std::vector<Cell>> rows;
  std::size_t shown = 0;
  for (const ReportJob& job : report.jobs) {
    if (most > 0 && shown++ == most) break;
    const JobRecord& record = job.record;
    const service::JobUse& use = job.use;
    const auto& attempts = record.outcome->attempts;
    rows.push_back({
        {style.cell(record.id, 16)},
        {style.cell(record.user, 10)},
        {style.cell(record.name, 18)},
        {style.cell(job.state, 13), style_of_state(job.state)},
        {style.date(seconds_of(job.end)).substr(5, 11)},
        {in_words(record.outcome->duration)},
        {job.waited ? in_words(*job.waited) : unknown_cell},
        {share_words(use.limit_pct), style_of_middle(use.limit_pct)},
        {share_words(use.cpu_pct), style_of_high(use.cpu_pct)},
        {share_words(use.memory_pct), style_of_middle(use.memory_pct)},
        {share_words(use.gpu_util_pct), style_of_high(use.gpu_util_pct)},
        {share_words(use.gpu_memory_pct)},
        {fmt::format("{}", record.gpus)},
        {hours(use.gpu_hours)},
        {record.outcome->energy_j ? energy_in_words(*record.outcome->energy_j) : unknown_cell},
        {use.wasted_gpu_hours() > 0 || use.idle_gpu_hours ? hours(use.wasted_gpu_hours())
                                                          : unknown_cell},
        {attempts.empty() ? unknown_cell : style.cell(attempts.back().nodes, 18)},
        {printable(cause_text(job))},
    });
  }
  std::string text = table_text(columns, rows, style.width);
  if (most > 0 && report.jobs.size() > most)
    text += fmt::format("... and {} more (--limit 0 shows all)\n", report.jobs.size() - most);
  return text;
}

std::string groups_table(const UsageReport& report, const ScreenStyle& style) {
  std::vector<TableColumn> columns = {
      {report.by, 0},       {"Jobs", 0, true},      {"Completed", 1, true}, {"Failed", 0, true},
      {"Timeout", 2, true}, {"Cancelled", 3, true}, {"GPU-h", 0, true},     {"Lost", 1, true},
      {"Idle", 1, true},    {"CPUEff", 4, true},    {"GPUEff", 1, true},    {"Energy", 5, true}};
  // The last one; few sites meter energy.
  if (style.width > 0 && report.total.energy_jobs == 0) columns.pop_back();
  std::vector<std::vector<Cell>> rows;
  for (const ReportGroup& group : report.groups) {
    rows.push_back({
        {style.cell(group.key, 28)},
        {fmt::format("{}", group.jobs)},
        {fmt::format("{}", group.completed)},
        {fmt::format("{}", group.failed),
         2 * group.failed > group.jobs ? Style::red : Style::plain},
        {fmt::format("{}", group.timeout)},
        {fmt::format("{}", group.cancelled)},
        {hours(group.gpu_hours)},
        {hours(group.lost_gpu_hours)},
        {group.gpu_util_pct ? hours(group.idle_gpu_hours) : unknown_cell},
        {share_words(group.cpu_pct), style_of_high(group.cpu_pct)},
        {share_words(group.gpu_util_pct), style_of_high(group.gpu_util_pct)},
        {group.energy_jobs > 0 ? energy_in_words(group.energy_j) : unknown_cell},
    });
  }
  return table_text(columns, rows, style.width);
}

std::string causes_text(const UsageReport& report, const ScreenStyle& style) {
  if (report.causes.empty()) return "";
  std::string text = "\nwhy jobs did not complete\n";
  std::size_t shown = 0;
  for (const service::ReportCause& cause : report.causes) {
    if (style.width > 0 && shown++ >= most_causes && cause.cause != service::earlier_attempts)
      continue;
    text += style.fit(fmt::format("{:>5} x {:<40} {:>8} GPU-hours lost", cause.jobs, cause.cause,
                                  hours(cause.lost_gpu_hours))) +
            "\n";
  }
  return text;
}

/// "n11: 5 of 7 failed".
std::string nodes_text(const UsageReport& report, const ScreenStyle& style) {
  if (report.nodes.empty()) return "";
  std::string text = "\nwhere jobs failed\n";
  std::size_t shown = 0;
  for (const auto& node : report.nodes) {
    if (style.width > 0 && shown++ == most_nodes) break;
    const std::string line = style.fit(
        fmt::format("  {}: {} of {} failed{}", node.node, node.failed, node.jobs,
                    node.suspect ? ", far more often than elsewhere: look at this node" : ""));
    text += styled(node.suspect ? Style::red : Style::plain, line) + "\n";
  }
  return text;
}

}  // namespace

std::string report_text(const UsageReport& report, const ScreenStyle& style, std::size_t most) {
  std::string text = totals_text(report, style);
  if (!report.groups.empty()) text += "\n" + groups_table(report, style);
  if (!report.jobs.empty()) text += "\n" + jobs_table(report, style, most);
  text += causes_text(report, style) + nodes_text(report, style);
  for (const std::string& note : report.notes) text += "note: " + printable(note) + "\n";
  return text;
}

}  // namespace schedmate::screen
