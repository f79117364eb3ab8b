// SPDX-License-Identifier: Apache-2.0
#include "synth/check.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

namespace schedmate::synth {
namespace {

constexpr double least_jobs = 10;
constexpr double least_percent = 0.05;
constexpr std::array<std::string_view, 3> state_names = {"completed", "cancelled", "failed"};

CheckRow row(std::string statistic, std::string of, double asked, double drawn) {
  const double off = asked > 0 ? std::abs(drawn - asked) / asked : 0;
  return {std::move(statistic), std::move(of), 0, asked, drawn, off};
}

/// Percent, against the smaller side of the point; nothing when that side is too small.
void add_point(std::vector<CheckRow>& rows, CheckRow point, double jobs) {
  const double side = std::min(point.asked, 100 - point.asked);
  if (side < least_percent || side / 100 * jobs < least_jobs) return;
  point.off = std::abs(point.drawn - point.asked) / side;
  rows.push_back(std::move(point));
}

struct Curve {
  std::string of;
  const Cdf& cdf;
  double parts = 1;  ///< separate draws, each of which may be one job off at each point
};

/// Jobs that ran at most as long as each point says.
void add_durations(std::vector<CheckRow>& rows, const Curve& curve,
                   std::vector<std::int64_t>& runs) {
  std::ranges::sort(runs);
  const auto jobs = static_cast<double>(runs.size());
  for (const CdfPoint& point : curve.cdf) {
    const auto below = std::ranges::upper_bound(runs, static_cast<std::int64_t>(point.x));
    const double percent = 100 * static_cast<double>(below - runs.begin()) / jobs;
    add_point(rows, {"duration CDF %", curve.of, point.x, point.percent, percent, 0},
              jobs / curve.parts);
  }
}

}  // namespace

std::vector<CheckRow> moment_rows(const ClusterFigures& cluster, const Tally& tally) {
  std::vector<CheckRow> rows = {
      row("mean run s", "", cluster.mean_run_s, tally.run_s / tally.jobs),
      row("mean GPUs", "", cluster.mean_gpus, tally.gpus / tally.jobs),
      row("mean GPU s", "", cluster.mean_gpu_s(), tally.gpu_s / tally.jobs)};
  for (std::size_t i = 0; i < state_names.size(); ++i) {
    const std::string name(state_names[i]);
    rows.push_back(row("jobs %", name,
                       100 * cluster.state_percent[i] / sum_of(cluster.state_percent),
                       100 * tally.state_jobs[i] / tally.jobs));
    rows.push_back(row("GPU time %", name,
                       100 * cluster.state_gpu_time_s[i] / sum_of(cluster.state_gpu_time_s),
                       100 * tally.state_gpu_s[i] / tally.gpu_s));
  }
  for (std::size_t i = 0; i < cluster.types.size(); ++i) {
    const WorkType& type = cluster.types[i];
    if (type.gpu_time_percent <= 0) continue;
    rows.push_back(
        row("jobs %", type.name, type.job_percent, 100 * tally.type_jobs[i] / tally.jobs));
    rows.push_back(row("GPU time %", type.name, type.gpu_time_percent,
                       100 * tally.type_gpu_s[i] / tally.gpu_s));
  }
  return rows;
}

std::vector<CheckRow> gpu_rows(const ClusterFigures& cluster, const Tally& tally) {
  std::vector<CheckRow> rows;
  double upto = 0;
  for (std::size_t i = 0; i < cluster.gpu_cdf.size(); ++i) {
    const CdfPoint& point = cluster.gpu_cdf[i];
    upto += tally.gpu_steps[i];
    if (point.x > cluster.gpu_cdf_holds_to) break;
    add_point(rows, {"GPU CDF %", "", point.x, point.percent, 100 * upto / tally.jobs, 0},
              tally.jobs);
  }
  return rows;
}

std::vector<CheckRow> duration_rows(const ClusterFigures& cluster, const SynthJobs& jobs) {
  std::vector<CheckRow> rows;
  std::vector<std::int64_t> all;
  for (std::size_t i = 0; i < cluster.types.size(); ++i) {
    std::vector<std::int64_t> runs;
    for (const SynthJob& job : jobs)
      if (job.type == i) runs.push_back(job.run_s);
    all.insert(all.end(), runs.begin(), runs.end());
    if (!cluster.types[i].name.empty())
      add_durations(rows, {cluster.types[i].name, cluster.types[i].duration_cdf}, runs);
  }
  add_durations(rows, {"", cluster.duration_cdf, static_cast<double>(cluster.types.size())}, all);
  return rows;
}

std::vector<CheckRow> check_rows(const ClusterFigures& cluster, const SynthJobs& jobs) {
  const Tally tally(cluster, jobs);
  std::vector<CheckRow> rows = moment_rows(cluster, tally);
  for (auto more : {gpu_rows(cluster, tally), duration_rows(cluster, jobs)})
    rows.insert(rows.end(), more.begin(), more.end());
  return rows;
}

std::vector<CheckRow> worst_rows(const std::vector<CheckRow>& rows) {
  std::vector<CheckRow> kept;
  for (const CheckRow& row : rows) {
    const auto better = [&](const CheckRow& other) {
      return other.at > 0 && other.statistic == row.statistic && other.of == row.of &&
             (other.off > row.off || (other.off == row.off && other.at < row.at));
    };
    if (row.at == 0 || !row.holds() || std::ranges::none_of(rows, better)) kept.push_back(row);
  }
  return kept;
}

}  // namespace schedmate::synth
