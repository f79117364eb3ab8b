// SPDX-License-Identifier: Apache-2.0
#include "evaluation_report/evaluation_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <set>

#include "evaluation_report/claims_section.hpp"
#include "evaluation_report/common_pages.hpp"
#include "evaluation_report/findings_text.hpp"
#include "evaluation_report/lucid_queue.hpp"
#include "evaluation_report/recovery_section.hpp"
#include "evaluation_report/summary_section.hpp"
#include "study/standard_arms.hpp"

namespace schedmate::evaluation_report {
namespace {

/// Not a figure that is the same in all arms, as the packed share of hosts that never pack.
bool is_distinctive(const ColumnRow& column, const std::vector<ArmRows>& arms) {
  std::vector<const study::FigureRow*> rows;
  for (const ArmRows& arm : arms)
    if (const FigureLine* at = arm.find(column.figure)) rows.push_back(&at->row);
  return rows.size() == 1 || std::ranges::any_of(rows, [&](const study::FigureRow* row) {
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

/// An arm's policy with {at} for the point, where the experiment has it so.
std::string written_policy(const Chapter& chapter, const study::FigureRow& row) {
  const auto& arms = chapter.experiment.arms;
  const auto arm = std::ranges::find(arms, row.arm, &study::ExperimentArm::label);
  if (arm == arms.end()) return row.policy;
  const std::string here = study::policy_at(*arm, row.at);
  return row.policy.starts_with(here) ? arm->policy + row.policy.substr(here.size()) : row.policy;
}

/// Of a standard arm: what it is stands on the front page.
bool is_standard(const Chapter& chapter, const std::string& label) {
  const auto& arms = chapter.experiment.arms;
  const auto arm = std::ranges::find(arms, label, &study::ExperimentArm::label);
  const auto base =
      std::ranges::find(arms, label.substr(0, label.rfind('.')), &study::ExperimentArm::label);
  if (arm == arms.end() || base == arms.end() || base == arm) return false;
  return std::ranges::any_of(study::standard_arms(*base), [&](const study::ExperimentArm& each) {
    return each.label == label && each.policy == arm->policy && each.settings == arm->settings;
  });
}

/// What the labels stand for, "" where they are policies.
std::string labels_of(const Chapter& chapter, const std::vector<ArmRows>& arms) {
  std::string text;
  std::set<std::string> listed;
  for (const ArmRows& arm : arms) {
    const study::FigureRow& row = *arm.first;
    if (row.policy == row.arm || is_standard(chapter, row.arm)) continue;
    if (listed.insert(row.arm).second)
      text += fmt::format("{}{} = {}", text.empty() ? "Arms: " : "; ", row.arm,
                          written_policy(chapter, row));
  }
  return text.empty() ? text : text + ".";
}

/// How many jobs count, and of which arms fewer have ended.
void add_jobs(Page& report, const Chapter& chapter, const std::string& trace,
              const std::vector<ArmRows>& arms) {
  const auto submitted = std::ranges::find_if(chapter.rows, [&](const FigureLine& at) {
    return at.row.trace == trace && at.row.figure == "submitted";
  });
  if (submitted == chapter.rows.end()) return;
  const double all = submitted->row.interval.value;
  std::string fewer;
  std::set<std::string> listed;
  for (const ArmRows& arm : arms) {
    const FigureLine* jobs = arm.find("jobs");
    if (jobs == nullptr || jobs->row.interval.value >= all) continue;
    if (!listed.insert(arm.first->arm).second) continue;
    fewer += fmt::format("{}{} {:g} :{}",
                         fewer.empty() ? "; jobs that ended in both host and arm: " : ", ",
                         arm.first->arm, jobs->row.interval.value, jobs->line);
  }
  report.paragraph(fmt::format("{:g} jobs after the warm-up :{}{}.", all, submitted->line, fewer));
}

/// Where all arms have the same host it is not repeated in each row.
bool has_one_host(const std::vector<ArmRows>& arms) {
  return !arms.empty() && std::ranges::all_of(arms, [&](const ArmRows& arm) {
    return arm.first->host == arms.front().first->host;
  });
}

/// Adds the figures of its columns to `shown`.
void add_arms(Page& report, const Chapter& chapter, const std::vector<ArmRows>& arms,
              std::set<std::string_view>& shown) {
  const bool swept =
      std::ranges::any_of(arms, [](const auto& arm) { return !arm.first->at.empty(); });
  const bool one_host = has_one_host(arms);
  std::vector<const ColumnRow*> columns;
  for (const ColumnRow& column : figure_columns())
    if (is_distinctive(column, arms) && !(swept && is_left_out(column))) columns.push_back(&column);
  for (const ColumnRow* column : columns) shown.insert(column->figure);
  std::vector<Cell> head;
  if (swept) head.push_back({swept_name(chapter.experiment)});
  head.push_back({"arm"});
  if (!one_host) head.push_back({"against"});
  for (const ColumnRow* column : columns) head.push_back({std::string(column->title)});
  std::vector<std::vector<Cell>> rows{head};
  for (const ArmRows& arm : arms) {
    const auto listed = [&](const ColumnRow* column) {
      return arm.find(column->figure) != nullptr;
    };
    if (std::ranges::none_of(columns, listed)) continue;  // a host in a sweep
    std::vector<Cell> cells;
    if (swept) cells.push_back({named_point(chapter.experiment, arm.first->at)});
    cells.push_back({arm.first->arm});
    if (!one_host) cells.push_back({arm.first->host});
    for (const ColumnRow* column : columns)
      cells.push_back(cell_of(chapter, arm.find(column->figure), column->format));
    rows.push_back(std::move(cells));
  }
  report.table(std::move(rows), chapter.target);
}

/// Once for each workload of the report.
void add_pairs(Page& report, const Chapter& chapter, std::set<std::string>& shown_before) {
  std::vector<std::vector<Cell>> rows{{{"speed of a member from"}, {"members"}}};
  std::string workload;
  std::set<std::string> seen;
  for (const FigureLine& at : chapter.rows) {
    constexpr std::string_view prefix = "pairs_";
    if (!at.row.figure.starts_with(prefix)) continue;
    if (workload.empty() && !shown_before.insert(at.row.workload_sha256).second) return;
    if (workload.empty()) workload = at.row.workload_sha256;
    if (at.row.workload_sha256 != workload || !seen.insert(at.row.figure).second) break;
    if (at.row.interval.n == 0) continue;
    Cell cell = cell_of(chapter, &at, FigureFormat::percent);
    cell.text = fmt::format("{} ({})", at.row.interval.n, cell.text);
    rows.push_back({{at.row.figure.substr(prefix.size())}, std::move(cell)});
  }
  if (rows.size() == 1) return;
  report.paragraph(
      fmt::format("How pairs that Lucid packs slow each other down in the made-up workload {}, in "
                  "bins of 0.05:",
                  workload));
  report.table(std::move(rows), chapter.target);
}

/// The costs of failures that an experiment with failures leaves as they are: a restart's is one.
std::string default_costs(const Chapter& chapter) {
  const study::ExperimentFile& experiment = chapter.experiment;
  constexpr std::string_view failures = "cost.failure_gpu_hours";
  const bool fails =
      experiment.settings.contains(std::string(failures)) || experiment.sweep == failures;
  if (!fails) return "";
  const std::string command = chapter.rows.empty() ? "" : chapter.rows.front().row.command;
  std::string text;
  for (const settings::SettingRow& row : settings::setting_rows()) {
    if (!settings::is_cost_of_failures(row) || row.key == experiment.sweep) continue;
    if (experiment.settings.contains(std::string(row.key))) continue;
    if (command.contains(fmt::format("--set {}=", row.key))) continue;
    text += fmt::format("{}{} = {}", text.empty() ? "Defaults: " : ", ", row.key, row.fallback);
  }
  return text;
}

/// What an experiment is compared with, and how it is run.
std::vector<std::string> head_of(const Chapter& chapter) {
  const study::ExperimentFile& experiment = chapter.experiment;
  std::vector<std::string> points;
  for (const std::string& each : experiment.published) points.push_back("Published: " + each);
  if (points.empty()) points.emplace_back("Published: none");
  for (const auto& [key, value] : experiment.settings)
    points.push_back(fmt::format("Setting: {} = {}", key, value));
  if (std::string costs = default_costs(chapter); !costs.empty())
    points.push_back(std::move(costs));
  const bool whole = experiment.warm_up_days == 0 || is_elastic(experiment);
  points.push_back(whole ? fmt::format("{} perturbations; no warm-up", experiment.perturbations)
                         : fmt::format("{} perturbations; the first {:g} days are left out",
                                       experiment.perturbations, experiment.warm_up_days));
  return points;
}

bool leaks(const study::ExperimentFile& experiment) {
  const auto cut = experiment.settings.find("workload_cut");
  return cut != experiment.settings.end() && cut->second == "leaky_duration";
}

/// 0 jobs or GPUs: as many as the options leave.
std::string drawn_as(const study::ExperimentTrace& trace) {
  std::string size =
      trace.jobs > 0 ? fmt::format("{} jobs", trace.jobs) : fmt::format("{:g} days", trace.days);
  if (trace.gpus > 0) size += fmt::format(" on {} of its GPUs", trace.gpus);
  return fmt::format("Synthetic rows, drawn like {} from published tables: {}, seed {}.",
                     trace.like, size, trace.seed);
}

void add_chapter(Page& report, const Chapter& chapter, std::set<std::string>& workloads) {
  const study::ExperimentFile& experiment = chapter.experiment;
  report.heading(2, experiment.title);
  if (!experiment.claim.empty()) report.paragraph("Claim: " + experiment.claim);
  report.list(head_of(chapter));
  if (!chapter.origin.empty()) report.paragraph(chapter.origin);
  if (std::string note = queue_note(chapter); !note.empty()) report.paragraph(std::move(note));
  if (chapter.rows.empty()) return;
  report.code(chapter.rows.front().row.command);
  std::string listed;  // of one trace, mostly true of the others
  std::set<std::string_view> shown;
  for (const std::string& trace : shown_traces(experiment)) {
    const auto arms = arms_of(chapter, trace);
    report.heading(
        3, fmt::format("{}: {}{}", experiment.name, trace == "all" ? "all jobs together" : trace,
                       has_one_host(arms) ? ", against " + arms.front().first->host : ""));
    const auto found = std::ranges::find(experiment.traces, trace, &study::ExperimentTrace::name);
    if (found != experiment.traces.end() && !found->like.empty())
      report.paragraph(drawn_as(*found));
    add_arms(report, chapter, arms, shown);
    if (std::string labels = labels_of(chapter, arms); !labels.empty() && labels != listed) {
      report.paragraph(labels);
      listed = std::move(labels);
    }
    add_jobs(report, chapter, trace, arms);
    add_recovery(report, chapter, trace);
  }
  report.paragraph(is_elastic(experiment) ? elastic_note(experiment)
                   : experiment.estimates ? estimates_note()
                   : leaks(experiment)    ? leaks_note()
                                          : construction_note(shown));
  add_pairs(report, chapter, workloads);
}

void add_links(Page& report, const std::vector<Chapter>& chapters, const std::string& folder) {
  report.heading(2, "Experiments");
  std::vector<std::vector<Cell>> rows{{{"page"}, {"title"}}};
  for (const Chapter& chapter : chapters) {
    const std::string& name = chapter.experiment.name;
    rows.push_back({{name, fmt::format("{}/{}.md", folder, name)}, {chapter.experiment.title}});
  }
  report.table(std::move(rows));
}

/// What both forms of the report have around the experiments.
Page report_around(const std::vector<Chapter>& chapters,
                   const std::function<void(Page& report)>& add_experiments) {
  Page report;
  add_front_page(report, not_from_reading(chapters));
  add_claims(report, chapters);
  add_summary(report, chapters);
  add_bounds_page(report, chapters);
  add_experiments(report);
  add_limits_page(report);
  return report;
}

}  // namespace

Page whole_report(const std::vector<Chapter>& chapters) {
  return report_around(chapters, [&](Page& report) {
    std::set<std::string> workloads;
    for (const Chapter& chapter : chapters) add_chapter(report, chapter, workloads);
  });
}

Page evaluation_front(const std::vector<Chapter>& chapters, const std::string& folder) {
  return report_around(chapters, [&](Page& report) { add_links(report, chapters, folder); });
}

Page experiment_page(const Chapter& chapter) {
  Page page;
  std::set<std::string> workloads;
  page.heading(1, chapter.experiment.name);
  add_chapter(page, chapter, workloads);
  return page;
}

}  // namespace schedmate::evaluation_report
