// SPDX-License-Identifier: Apache-2.0
#include "apps/report_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "apps/screen.hpp"
#include "base/words.hpp"

namespace schedmate {
namespace {

using service::ReportGroup;
using service::ReportJob;
using service::UsageReport;

constexpr std::size_t most_causes = 8;
constexpr std::size_t most_nodes = 8;

std::string hours(double value) {
  return value < 10 ? fmt::format("{:.2f}", value) : fmt::format("{:.0f}", value);
}

std::string totals_text(const UsageReport& report, const ScreenStyle& style) {
  const std::size_t width = style.width;
  const ReportGroup& total = report.total;
  const std::string since = seconds_of(report.since) > 0 ? style.date(seconds_of(report.since))
                                                         : std::string("the beginning");
  std::string text = shortened(fmt::format("jobs that ended from {} to {}, by {}", since,
                                           style.date(seconds_of(report.until)), report.source),
                               width) +
                     "\n";
  text += shortened(fmt::format("{} jobs: {} completed, {} failed, {} timed out, {} cancelled",
                                total.jobs, total.completed, total.failed, total.timeout,
                                total.cancelled),
                    width) +
          "\n";
  std::string cost = fmt::format("{} GPU-hours: {} lost to failures and time-outs",
                                 hours(total.gpu_hours), hours(total.lost_gpu_hours));
  cost += total.gpu_util_pct ? fmt::format(", {} idle (GPUs busy {:.0f} %)",
                                           hours(total.idle_gpu_hours), *total.gpu_util_pct)
                             : ", GPU use not measured";
  return text + shortened(cost, width) + "\n";
}

TableColumn column(std::string name, int rank, bool to_the_right) {
  return {std::move(name), rank, to_the_right, {}};
}

/// The names that seff's users know: JobID, State, Elapsed, TimeEff, CPUEff, MemEff, GPUEff.
std::string jobs_table(const UsageReport& report, const ScreenStyle& style, std::size_t most) {
  std::vector<TableColumn> columns = {
      column("JobID", 0, false), column("User", 1, false),   column("Name", 8, false),
      column("State", 0, false), column("Ended", 7, false),  column("Elapsed", 0, true),
      column("Waited", 9, true), column("TimeEff", 3, true), column("CPUEff", 2, true),
      column("MemEff", 2, true), column("GPUEff", 1, true),  column("GPUs", 6, true),
      column("GPU-h", 4, true),  column("Wasted", 2, true),  column("Nodes", 10, false),
      column("Cause", 1, false)};
  std::size_t shown = 0;
  for (const ReportJob& job : report.jobs) {
    if (most > 0 && shown++ == most) break;
    const JobRecord& record = job.record;
    const service::JobUse& use = job.use;
    const auto& attempts = record.outcome->attempts;
    const std::vector<Cell> row = {
        {shortened(record.id, 16)},
        {shortened(record.user, 10)},
        {shortened(record.name, 18)},
        {shortened(job.state, 13), colour_of_state(job.state)},
        {style.date(seconds_of(job.end)).substr(5, 11)},
        {in_words(record.outcome->duration)},
        {job.waited ? in_words(*job.waited) : "---"},
        {share_words(use.limit_pct), colour_of_middle(use.limit_pct)},
        {share_words(use.cpu_pct), colour_of_high(use.cpu_pct)},
        {share_words(use.memory_pct), colour_of_middle(use.memory_pct)},
        {share_words(use.gpu_util_pct), colour_of_high(use.gpu_util_pct)},
        {fmt::format("{}", record.gpus)},
        {hours(use.gpu_hours)},
        {use.wasted_gpu_hours() > 0 || use.idle_gpu_hours ? hours(use.wasted_gpu_hours()) : "---"},
        {attempts.empty() ? "---" : shortened(attempts.back().nodes, 18)},
        {job.state == "completed" ? "" : job.cause}};
    for (std::size_t i = 0; i < columns.size(); ++i) columns[i].cells.push_back(row[i]);
  }
  std::string text = table_text(std::move(columns), style.width);
  if (most > 0 && report.jobs.size() > most)
    text += fmt::format("... and {} more (--limit 0 shows all)\n", report.jobs.size() - most);
  return text;
}

std::string groups_table(const UsageReport& report, const ScreenStyle& style) {
  std::vector<TableColumn> columns = {
      column("", 0, false),      column("Jobs", 0, true),    column("Completed", 1, true),
      column("Failed", 0, true), column("Timeout", 2, true), column("Cancelled", 3, true),
      column("GPU-h", 0, true),  column("Lost", 1, true),    column("Idle", 1, true),
      column("CPUEff", 4, true), column("GPUEff", 1, true)};
  for (const ReportGroup& group : report.groups) {
    const std::vector<Cell> row = {
        {shortened(group.key, 28)},
        {fmt::format("{}", group.jobs)},
        {fmt::format("{}", group.completed)},
        {fmt::format("{}", group.failed),
         2 * group.failed > group.jobs ? Colour::red : Colour::none},
        {fmt::format("{}", group.timeout)},
        {fmt::format("{}", group.cancelled)},
        {hours(group.gpu_hours)},
        {hours(group.lost_gpu_hours)},
        {group.gpu_util_pct ? hours(group.idle_gpu_hours) : "---"},
        {share_words(group.cpu_pct), colour_of_high(group.cpu_pct)},
        {share_words(group.gpu_util_pct), colour_of_high(group.gpu_util_pct)}};
    for (std::size_t i = 0; i < columns.size(); ++i) columns[i].cells.push_back(row[i]);
  }
  return table_text(std::move(columns), style.width);
}

std::string causes_text(const UsageReport& report, const ScreenStyle& style) {
  if (report.causes.empty()) return "";
  std::string text = "\nwhy jobs did not complete\n";
  std::size_t shown = 0;
  for (const auto& cause : report.causes) {
    if (shown++ == most_causes) break;
    text += shortened(fmt::format("{:>5} x {:<40} {:>8} GPU-hours lost", cause.jobs, cause.cause,
                                  hours(cause.lost_gpu_hours)),
                      style.width) +
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
    if (shown++ == most_nodes) break;
    const std::string line = shortened(
        fmt::format("  {}: {} of {} failed{}", node.node, node.failed, node.jobs,
                    node.suspect ? ", far more often than elsewhere: look at this node" : ""),
        style.width);
    text += coloured(line, node.suspect ? Colour::red : Colour::none) + "\n";
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

}  // namespace schedmate
