// SPDX-License-Identifier: Apache-2.0
#include "study/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/check.hpp"

namespace schedmate::study {
namespace {

double& of(Figures& figures, Figure which) { return figures[static_cast<std::size_t>(which)]; }

std::vector<double> column(std::span<const Figures> perturbations, Figure which) {
  std::vector<double> values;
  for (const Figures& each : perturbations) values.push_back(each[static_cast<std::size_t>(which)]);
  return values;
}

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// JCTs of the jobs that finished in both.
struct PairedJcts {
  std::vector<double> host, arm, ratios, duration;
};

PairedJcts finished_in_both(const Replayed& host, const Replayed& arm) {
  PairedJcts both;
  for (std::size_t row = 0; row < host.jct_s.size(); ++row) {
    if (std::isnan(host.jct_s[row]) || std::isnan(arm.jct_s[row])) continue;
    both.host.push_back(host.jct_s[row]);
    both.arm.push_back(arm.jct_s[row]);
    both.ratios.push_back(arm.jct_s[row] / host.jct_s[row]);
    if (!host.duration_s.empty()) both.duration.push_back(host.duration_s[row]);
  }
  return both;
}

FigureRow row_of(const FigureRow& base, Figure which, std::span<const Figures> perturbations) {
  FigureRow row = base;
  row.figure = figure_names[static_cast<std::size_t>(which)];
  row.interval = mean_interval(column(perturbations, which));
  return row;
}

/// The bound is a promise of SchedMate's arms alone.
bool takes_advice(std::string_view policy) {
  return policy.contains("+sm") || policy.contains("+fh") || policy.contains("advice=");
}

/// `slower`: ln of how many times longer than the host, by perturbation.
FigureRow verdict(const FigureRow& base, std::string_view figure,
                  const std::vector<double>& slower) {
  FigureRow row = base;
  row.figure = figure;
  row.interval = {upper_bound(slower), std::nan(""), std::nan(""), slower.size()};
  if (takes_advice(base.policy))
    row.note = row.interval.value <= std::log1p(safe_slowdown) ? "holds" : "exceeds";
  return row;
}

/// Of the time that zero waiting and no sharing would save.
FigureRow bound_share(const FigureRow& base, std::span<const Figures> perturbations) {
  const auto host = column(perturbations, Figure::host_jct_s);
  const auto bound = column(perturbations, Figure::bound);
  auto saved = column(perturbations, Figure::jct_s);
  std::vector<double> at_most;
  for (std::size_t i = 0; i < host.size(); ++i) {
    saved[i] = host[i] - saved[i];
    at_most.push_back(host[i] - host[i] / bound[i]);
  }
  FigureRow row = base;
  row.figure = "bound_share";
  row.interval = ratio_interval({saved, at_most}, 1);
  return row;
}

std::string number(double value) { return std::isnan(value) ? "" : fmt::format("{:.6g}", value); }

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

}  // namespace

Figures compare(const Replayed& host, const Replayed& arm) {
  SCHEDMATE_CHECK(host.jct_s.size() == arm.jct_s.size(), "both are replays of the same jobs");
  PairedJcts both = finished_in_both(host, arm);
  const auto jobs = static_cast<double>(both.arm.size());
  Figures figures{};
  double log_sum = 0;
  for (const double ratio : both.ratios) log_sum += std::log(ratio);
  of(figures, Figure::ln_ratio) = log_sum / jobs;
  of(figures, Figure::jct_s) = mean_of(both.arm);
  of(figures, Figure::host_jct_s) = mean_of(both.host);
  of(figures, Figure::jct_ratio) = mean_of(both.host) / mean_of(both.arm);
  of(figures, Figure::bound) = mean_of(both.host) / mean_of(both.duration);
  std::ranges::sort(both.arm);
  std::ranges::sort(both.ratios);
  of(figures, Figure::jct_p50_s) = quantile(both.arm, 0.5);
  of(figures, Figure::jct_p99_s) = quantile(both.arm, 0.99);
  of(figures, Figure::ratio_p50) = quantile(both.ratios, 0.5);
  of(figures, Figure::ratio_p99) = quantile(both.ratios, 0.99);
  const auto slowed = both.ratios.end() - std::ranges::upper_bound(both.ratios, 2.0);
  of(figures, Figure::slowed_2x) = static_cast<double>(slowed) / jobs;
  of(figures, Figure::makespan_s) = arm.makespan_s;
  of(figures, Figure::packed_share) = arm.held_gpu_s > 0 ? arm.packed_gpu_s / arm.held_gpu_s : 0;
  of(figures, Figure::jobs) = jobs;
  for (std::size_t row = 0; row < host.jct_s.size(); ++row)
    if (!std::isnan(host.jct_s[row]) && std::isnan(arm.jct_s[row]))
      of(figures, Figure::unfinished) += 1;
  return figures;
}

std::vector<FigureRow> host_rows(const FigureRow& base, std::span<const Figures> perturbations) {
  std::vector<FigureRow> rows;
  for (const Figure which : {Figure::jct_s, Figure::jct_p50_s, Figure::jct_p99_s,
                             Figure::makespan_s, Figure::packed_share, Figure::jobs})
    rows.push_back(row_of(base, which, perturbations));
  return rows;
}

std::vector<FigureRow> arm_rows(const FigureRow& base, std::span<const Figures> perturbations) {
  std::vector<FigureRow> rows;
  for (std::size_t i = 0; i < figure_count; ++i)
    rows.push_back(row_of(base, static_cast<Figure>(i), perturbations));
  rows.push_back(bound_share(base, perturbations));
  std::erase_if(rows, [](const FigureRow& row) {
    return row.figure.starts_with("bound") && std::isnan(row.interval.value);
  });
  rows.push_back(verdict(base, "upper95", column(perturbations, Figure::ln_ratio)));
  std::vector<double> longer = column(perturbations, Figure::jct_ratio);
  for (double& ratio : longer) ratio = -std::log(ratio);
  rows.push_back(verdict(base, "longer95", longer));
  rows.back().interval.value = std::expm1(rows.back().interval.value);
  return rows;
}

FigureRow oracle_row(const FigureRow& base, const OracleShare& pair) {
  const auto gains = [](std::span<const Figures> from) {
    auto values = column(from, Figure::ln_ratio);
    const auto jobs = column(from, Figure::jobs);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] *= -jobs[i];
    return values;
  };
  FigureRow row = base;
  row.figure = "oracle_share";
  const Interval oracle = mean_interval(column(pair.oracle, Figure::ln_ratio));
  const bool head_room = -oracle.high > least_head_room;  // false for NaN
  if (!head_room) {
    row.interval = {std::nan(""), std::nan(""), std::nan(""), pair.arm.size()};
    row.note = "no head-room";
    return row;
  }
  const auto part = gains(pair.arm);
  const auto whole = gains(pair.oracle);
  row.interval = ratio_interval({part, whole}, 1);
  return row;
}

FigureRow difference_row(const FigureRow& base, const ArmPair& pair) {
  auto differences = column(pair.arm, Figure::ln_ratio);
  const auto others = column(pair.other, Figure::ln_ratio);
  for (std::size_t i = 0; i < differences.size(); ++i) differences[i] -= others[i];
  FigureRow row = base;
  row.interval = mean_interval(differences);
  return row;
}

std::string csv_header() {
  return "experiment,trace,at,arm,host,policy,figure,value,low,high,n,note,workload_sha256,"
         "command\n";
}

std::string csv_line(const FigureRow& row) {
  return fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", quoted(row.experiment),
                     quoted(row.trace), quoted(row.at), quoted(row.arm), quoted(row.host),
                     quoted(row.policy), row.figure, number(row.interval.value),
                     number(row.interval.low), number(row.interval.high), row.interval.n,
                     quoted(row.note), row.workload_sha256, quoted(row.command));
}

}  // namespace schedmate::study
