// SPDX-License-Identifier: Apache-2.0
#include "lab/elastic_summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>

#include "evaluation_report/page.hpp"

namespace schedmate::lab {
namespace {

constexpr double hour_s = 3600;

struct ElasticFigure {
  std::string_view key, title;
  double unit;
};
constexpr std::array elastic_figures{ElasticFigure{"avg_jct_s", "avg JCT, h", hour_s},
                                     ElasticFigure{"p50_jct_s", "p50, h", hour_s},
                                     ElasticFigure{"p99_jct_s", "p99, h", hour_s},
                                     ElasticFigure{"makespan_s", "makespan, h", hour_s},
                                     ElasticFigure{"restarts_per_job", "restarts", 1},
                                     ElasticFigure{"gpu_hours", "GPU hours", 1}};

/// Element floor(share x n) of the sorted values.
double ranked(const std::vector<double>& sorted, double share) {
  const auto rank = static_cast<std::size_t>(share * static_cast<double>(sorted.size()));
  return sorted[std::min(rank, sorted.size() - 1)];
}

std::array<double, elastic_figures.size()> figures_of(const elastic::ElasticResult& result) {
  std::vector<double> jct_s;
  double first_s = std::numeric_limits<double>::infinity();
  double last_s = 0;
  double restarts = 0;
  double gpu_s = 0;
  for (const elastic::ElasticOutcome& job : result.jobs) {
    jct_s.push_back(job.completion_s - job.submit_s);
    first_s = std::min(first_s, job.submit_s);
    last_s = std::max(last_s, job.completion_s);
    restarts += job.restarts;
    gpu_s += job.spent.held();
  }
  std::ranges::sort(jct_s);
  const auto count = static_cast<double>(jct_s.size());
  return {std::accumulate(jct_s.begin(), jct_s.end(), 0.0) / count,
          ranked(jct_s, 0.5),
          ranked(jct_s, 0.99),
          last_s - first_s,
          restarts / count,
          gpu_s / hour_s};
}

void add_spent(elastic::GpuSecondsSpent& sum, const elastic::GpuSecondsSpent& job) {
  sum.training += job.training;
  sum.restarting += job.restarting;
  sum.measuring += job.measuring;
  sum.hanging += job.hanging;
  sum.lost += job.lost;
}

/// Mean seconds, over all runs.
std::vector<double> jct_by_application(const elastic::ElasticWorkload& workload,
                                       std::span<const elastic::ElasticResult> results) {
  std::vector<double> sums(workload.applications.size());
  std::vector<double> counts(workload.applications.size());
  for (const elastic::ElasticResult& result : results) {
    for (std::size_t i = 0; i < result.jobs.size(); ++i) {
      const std::size_t application = workload.jobs[i].application;
      sums[application] += result.jobs[i].completion_s - result.jobs[i].submit_s;
      counts[application] += 1;
    }
  }
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] /= std::max(1.0, counts[i]);
  return sums;
}

std::vector<std::vector<evaluation_report::Cell>> cells_of(
    const std::vector<std::vector<std::string>>& table) {
  std::vector<std::vector<evaluation_report::Cell>> rows;
  for (const auto& line : table) {
    auto& row = rows.emplace_back();
    for (const std::string& text : line) row.push_back({text});
  }
  return rows;
}

std::string interval_text(const study::Interval& interval, double unit) {
  if (interval.n < 2) return fmt::format("{:.3f}", interval.value / unit);
  return fmt::format("{:.3f} ({:.3f} to {:.3f})", interval.value / unit, interval.low / unit,
                     interval.high / unit);
}

/// A table with a row for each policy, by what `cells` gives of it.
template <class CellsOf>
void add_table(evaluation_report::Page& page, const ElasticSummary& summary,
               std::vector<std::string> head, const CellsOf& cells_of_row) {
  head.insert(head.begin(), "policy");
  std::vector<std::vector<std::string>> table{std::move(head)};
  for (const ElasticRow& row : summary.rows) {
    auto& cells = table.emplace_back(std::vector<std::string>{row.label});
    for (std::string& cell : cells_of_row(row)) cells.push_back(std::move(cell));
  }
  page.table(cells_of(table));
}

std::vector<std::string> spent_cells(const ElasticRow& row) {
  std::vector<std::string> cells;
  for (const double part : {row.spent.training, row.spent.restarting, row.spent.measuring,
                            row.spent.hanging, row.spent.lost})
    cells.push_back(fmt::format("{:.1f} %", 100 * part / std::max(1.0, row.spent.held())));
  return cells;
}

std::vector<std::string> hours_of(std::span<const double> seconds) {
  std::vector<std::string> cells;
  for (const double jct_s : seconds) cells.push_back(fmt::format("{:.3f}", jct_s / hour_s));
  return cells;
}

}  // namespace

ElasticRow summarise_elastic(const study::PolicySpec& policy,
                             const elastic::ElasticWorkload& workload,
                             std::span<const elastic::ElasticResult> results) {
  static_assert(ElasticRow::figures == elastic_figures.size());
  std::array<std::vector<double>, ElasticRow::figures> values;
  for (const elastic::ElasticResult& result : results) {
    const auto each = figures_of(result);
    for (std::size_t i = 0; i < values.size(); ++i) values[i].push_back(each[i]);
  }
  ElasticRow row{policy.label, policy.text, {}, results.front().rounds, {}, {}, {}};
  row.application_jct = jct_by_application(workload, results);
  std::vector<double> jct_s;
  for (const elastic::ElasticResult& result : results) {
    for (const elastic::ElasticOutcome& job : result.jobs) {
      jct_s.push_back(job.completion_s - job.submit_s);
      add_spent(row.spent, job.spent);
    }
  }
  std::ranges::sort(jct_s);
  for (std::size_t i = 0; i < row.deciles.size(); ++i)
    row.deciles[i] = study::quantile(jct_s, static_cast<double>(i + 1) / 10);
  for (std::size_t i = 0; i < values.size(); ++i)
    row.intervals[i] = study::mean_interval(values[i]);
  return row;
}

Document elastic_document(const ElasticSummary& summary) {
  Document document = {{"schema", "schedmate.elastic.v1"},
                       {"trace", summary.trace},
                       {"cluster", summary.cluster},
                       {"gpus", summary.gpus},
                       {"jobs", summary.jobs},
                       {"policies", Document::array()}};
  for (const ElasticRow& row : summary.rows) {
    Document each = {{"label", row.label},
                     {"policy", row.policy},
                     {"perturbations", row.intervals[0].n},
                     {"rounds", row.rounds}};
    for (std::size_t i = 0; i < elastic_figures.size(); ++i) {
      const study::Interval& interval = row.intervals[i];
      Document& figure = each[elastic_figures[i].key];
      figure["mean"] = interval.value;
      if (interval.n > 1) figure["interval95"] = {interval.low, interval.high};
    }
    document["policies"].push_back(std::move(each));
  }
  return document;
}

std::vector<std::vector<std::string>> figure_table(const ElasticSummary& summary) {
  std::vector<std::vector<std::string>> table{{"policy"}};
  for (const ElasticFigure& figure : elastic_figures) table[0].emplace_back(figure.title);
  for (const ElasticRow& row : summary.rows) {
    auto& cells = table.emplace_back(std::vector<std::string>{row.label});
    for (std::size_t i = 0; i < elastic_figures.size(); ++i)
      cells.push_back(interval_text(row.intervals[i], elastic_figures[i].unit));
  }
  return table;
}

std::string elastic_page(const ElasticSummary& summary) {
  evaluation_report::Page page;
  page.heading(1, "Elastic jobs");
  page.paragraph(fmt::format(
      "{}: {} jobs on {} GPUs ({}). Means over {} ways to break ties, with "
      "95 % intervals.",
      summary.trace, summary.jobs, summary.gpus, summary.cluster, summary.perturbations()));
  page.table(cells_of(figure_table(summary)));
  page.heading(2, "Where GPU time went");
  add_table(page, summary,
            {"training", "restarting", "measured before training", "hanging after a failure",
             "lost by a failure"},
            spent_cells);
  page.heading(2, "JCT by application, h");
  add_table(page, summary, summary.applications,
            [](const ElasticRow& row) { return hours_of(row.application_jct); });
  page.heading(2, "JCT of the jobs, h: time within which this percentage is done");
  std::vector<std::string> percents;
  for (int i = 1; i <= 10; ++i) percents.push_back(fmt::format("{} %", 10 * i));
  add_table(page, summary, percents, [](const ElasticRow& row) { return hours_of(row.deciles); });
  return page.html("SchedMate: elastic jobs");
}

std::string elastic_jobs_csv(const elastic::ElasticWorkload& workload,
                             const elastic::ElasticResult& result) {
  std::string csv = "job_id,application,submit_s,start_s,end_s,jct_s,restarts,gpu_s,matches\n";
  for (std::size_t i = 0; i < result.jobs.size(); ++i) {
    const elastic::ElasticJob& job = workload.jobs[i];
    const elastic::ElasticOutcome& outcome = result.jobs[i];
    std::string matches;
    for (const std::uint32_t match : outcome.matches)
      matches += (matches.empty() ? "" : " ") + workload.jobs[match].name;
    csv +=
        fmt::format("{},{},{},{},{},{},{},{},{}\n", job.name,
                    workload.applications[job.application].traits.name, outcome.submit_s,
                    outcome.start_s, outcome.completion_s, outcome.completion_s - outcome.submit_s,
                    outcome.restarts, outcome.spent.held(), matches);
  }
  return csv;
}

}  // namespace schedmate::lab
