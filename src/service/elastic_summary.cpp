// SPDX-License-Identifier: Apache-2.0
#include "service/elastic_summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>

#include "evaluation_report/page.hpp"
#include "base/words.hpp"

namespace schedmate::service {
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

/// Element floor(share x n) of the sorted values (sia.md 10).
double ranked(const std::vector<double>& sorted, double share) {
  const auto rank = static_cast<std::size_t>(share * static_cast<double>(sorted.size()));
  return sorted[std::min(rank, sorted.size() - 1)];
}

std::array<double, elastic_figures.size()> figures_of(const ElasticResult& result) {
  std::vector<double> jct_s;
  double first_s = std::numeric_limits<double>::infinity();
  double last_s = 0;
  double restarts = 0;
  double gpu_s = 0;
  for (const ElasticOutcome& job : result.jobs) {
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

void add_spent(GpuSecondsSpent& sum, const GpuSecondsSpent& job) {
  sum.training += job.training;
  sum.restarting += job.restarting;
  sum.measuring += job.measuring;
  sum.hanging += job.hanging;
  sum.lost += job.lost;
}

/// Mean seconds, over all runs.
std::vector<double> jct_by_application(const ElasticWorkload& workload,
                                       std::span<const ElasticResult> results) {
  std::vector<double> sums(workload.applications.size());
  std::vector<double> counts(workload.applications.size());
  for (const ElasticResult& result : results) {
    for (std::size_t i = 0; i < result.jobs.size(); ++i) {
      const std::size_t application = workload.jobs[i].application;
      sums[application] += result.jobs[i].completion_s - result.jobs[i].submit_s;
      counts[application] += 1;
    }
  }
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] /= std::max(1.0, counts[i]);
  return sums;
}

std::vector<std::vector<Cell>> cells_of(const std::vector<std::vector<std::string>>& table) {
  std::vector<std::vector<Cell>> rows;
  for (const auto& line : table) {
    auto& row = rows.emplace_back();
    for (const std::string& text : line) row.push_back({text});
  }
  return rows;
}

std::string interval_text(const Interval& interval, double unit) {
  if (interval.n < 2) return fmt::format("{:.3f}", interval.value / unit);
  return fmt::format("{:.3f} ({:.3f} to {:.3f})", interval.value / unit, interval.low / unit,
                     interval.high / unit);
}

}  // namespace

ElasticSummary::ElasticSummary(std::string trace, const ElasticCluster& cluster,
                               const ElasticWorkload& workload)
    : trace_(std::move(trace)), cluster_(cluster.name), gpus_(cluster.gpus()), workload_(workload) {
  static_assert(figures == elastic_figures.size());
}

void ElasticSummary::add(const PolicySpec& policy, std::span<const ElasticResult> results) {
  std::array<std::vector<double>, figures> values;
  for (const ElasticResult& result : results) {
    const auto each = figures_of(result);
    for (std::size_t i = 0; i < figures; ++i) values[i].push_back(each[i]);
  }
  Row row{policy.label, policy.text, {}, results.front().rounds, {}, {}, {}};
  row.application_jct = jct_by_application(workload_, results);
  std::vector<double> jct_s;
  for (const ElasticResult& result : results) {
    for (const ElasticOutcome& job : result.jobs) {
      jct_s.push_back(job.completion_s - job.submit_s);
      add_spent(row.spent, job.spent);
    }
  }
  std::ranges::sort(jct_s);
  for (std::size_t i = 0; i < row.deciles.size(); ++i)
    row.deciles[i] = quantile(jct_s, static_cast<double>(i + 1) / 10);
  for (std::size_t i = 0; i < figures; ++i) row.intervals[i] = mean_interval(values[i]);
  rows_.push_back(std::move(row));
}

std::string ElasticSummary::json() const {
  nlohmann::ordered_json document = {{"schema", "schedmate.elastic.v1"},
                                     {"trace", trace_},
                                     {"cluster", cluster_},
                                     {"gpus", gpus_},
                                     {"jobs", workload_.jobs.size()},
                                     {"policies", nlohmann::ordered_json::array()}};
  for (const Row& row : rows_) {
    nlohmann::ordered_json each = {{"label", row.label},
                                   {"policy", row.policy},
                                   {"perturbations", row.intervals[0].n},
                                   {"rounds", row.rounds}};
    for (std::size_t i = 0; i < figures; ++i) {
      const Interval& interval = row.intervals[i];
      nlohmann::ordered_json& figure = each[elastic_figures[i].key];
      figure["mean"] = interval.value;
      if (interval.n > 1) figure["interval95"] = {interval.low, interval.high};
    }
    document["policies"].push_back(std::move(each));
  }
  return document.dump(2) + "\n";
}

std::vector<std::vector<std::string>> ElasticSummary::figure_table() const {
  std::vector<std::vector<std::string>> table{{"policy"}};
  for (const ElasticFigure& figure : elastic_figures) table[0].emplace_back(figure.title);
  for (const Row& row : rows_) {
    auto& cells = table.emplace_back(std::vector<std::string>{row.label});
    for (std::size_t i = 0; i < figures; ++i)
      cells.push_back(interval_text(row.intervals[i], elastic_figures[i].unit));
  }
  return table;
}

std::string ElasticSummary::text() const {
  const std::uint64_t count = rows_.empty() ? 0 : rows_[0].intervals[0].n;
  return fmt::format(
      "{} jobs on {} GPUs ({}); means over ways to break ties: {}, 95 % intervals\n{}",
      workload_.jobs.size(), gpus_, cluster_, count, aligned(figure_table()));
}

std::string ElasticSummary::html() const {
  Document page;
  page.heading(1, "Elastic jobs");
  page.paragraph(fmt::format(
      "{}: {} jobs on {} GPUs ({}). Means over {} ways to break ties, with "
      "95 % intervals.",
      trace_, workload_.jobs.size(), gpus_, cluster_, rows_.empty() ? 0 : rows_[0].intervals[0].n));
  page.table(cells_of(figure_table()));
  page.heading(2, "Where GPU time went");
  std::vector<std::vector<std::string>> spent{{"policy", "training", "restarting",
                                               "measured before training",
                                               "hanging after a failure", "lost by a failure"}};
  for (const Row& row : rows_) {
    auto& cells = spent.emplace_back(std::vector<std::string>{row.label});
    for (const double part : {row.spent.training, row.spent.restarting, row.spent.measuring,
                              row.spent.hanging, row.spent.lost})
      cells.push_back(fmt::format("{:.1f} %", 100 * part / std::max(1.0, row.spent.held())));
  }
  page.table(cells_of(spent));
  page.heading(2, "JCT by application, h");
  std::vector<std::vector<std::string>> by_application{{"policy"}};
  for (const Application& application : workload_.applications)
    by_application[0].push_back(application.traits.name);
  for (const Row& row : rows_) {
    auto& cells = by_application.emplace_back(std::vector<std::string>{row.label});
    for (const double jct_s : row.application_jct)
      cells.push_back(fmt::format("{:.3f}", jct_s / hour_s));
  }
  page.table(cells_of(by_application));
  page.heading(2, "JCT of the jobs, h: so many percent are done within");
  std::vector<std::vector<std::string>> deciles{{"policy"}};
  for (int i = 1; i <= 10; ++i) deciles[0].push_back(fmt::format("{} %", 10 * i));
  for (const Row& row : rows_) {
    auto& cells = deciles.emplace_back(std::vector<std::string>{row.label});
    for (const double jct_s : row.deciles) cells.push_back(fmt::format("{:.3f}", jct_s / hour_s));
  }
  page.table(cells_of(deciles));
  return page.html("SchedMate: elastic jobs");
}

std::string elastic_jobs_csv(const ElasticWorkload& workload, const ElasticResult& result) {
  std::string csv = "job_id,application,submit_s,start_s,end_s,jct_s,restarts,gpu_s,matches\n";
  for (std::size_t i = 0; i < result.jobs.size(); ++i) {
    const ElasticJob& job = workload.jobs[i];
    const ElasticOutcome& outcome = result.jobs[i];
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

}  // namespace schedmate::service
