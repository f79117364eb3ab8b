// SPDX-License-Identifier: Apache-2.0
#include "synth/published.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/table_reader.hpp"

namespace schedmate::synth {
namespace {

constexpr Bounds share{0, 100};
constexpr Bounds not_negative{0, 1e15};
constexpr double most_run_s = 1e9;
constexpr Bounds run_s{1, most_run_s};
constexpr Bounds gpus{1, 1e6};

template <class Value, class Read>
Result<Value> parsed(std::string_view text, const std::string& name, Read read) {
  Value value{};
  const auto done =
      TableReader::read(text, name, [&](TableReader& reader) { read(reader, value); });
  if (!done) return tl::unexpected(done.error());
  return value;
}

/// So many numbers; zeros when they are wrong.
template <std::size_t count>
void read_numbers(TableReader& reader, std::string_view key, std::array<double, count>& out) {
  std::vector<double> values;
  reader.numbers(key, values, not_negative);
  if (values.size() == count)
    std::ranges::copy(values, out.begin());
  else
    reader.refuse(key, fmt::format("{} must list {} numbers", key, count));
}

template <std::size_t count>
void read_weights(TableReader& reader, std::string_view key, std::array<double, count>& out) {
  read_numbers(reader, key, out);
  if (std::ranges::max(out) <= 0)
    reader.refuse(key, fmt::format("{} must have a number above 0", key));
}

/// Pairs that rise in x, do not fall in percent and end at 100.
void read_cdf(TableReader& reader, std::string_view key, Cdf& cdf, Bounds bounds) {
  std::vector<std::vector<double>> rows;
  reader.rows(key, rows, 2, not_negative);
  for (const auto& row : rows) {
    if (row.size() != 2) return;
    const CdfPoint last = cdf.empty() ? CdfPoint{-1, 0} : cdf.back();
    if (row[0] <= last.x || row[1] < last.percent || row[1] > 100) {
      reader.refuse(key, fmt::format("{} must increase: [{}, {}] after [{}, {}]", key, row[0],
                                     row[1], last.x, last.percent));
    }
    cdf.push_back({row[0], row[1]});
  }
  if (cdf.empty()) return;
  if (cdf.back().percent != 100) reader.refuse(key, fmt::format("{} must end at 100 percent", key));
  if (cdf.front().x < bounds.low || cdf.back().x > bounds.high)
    reader.refuse(key, fmt::format("{} must lie between {} and {}", key, bounds.low, bounds.high));
}

void read_type(TableReader& reader, WorkType& type) {
  reader.text("name", type.name);
  reader.number("job_percent", type.job_percent, share);
  reader.number("gpu_time_percent", type.gpu_time_percent, share);
  type.batches = false;
  reader.maybe_flag("batches", type.batches);
  std::array<double, 5> quantiles{1, 1, 1, 1, 1};
  read_numbers(reader, "gpus", quantiles);
  if (!std::ranges::is_sorted(quantiles) || quantiles[0] < gpus.low || quantiles[4] > gpus.high)
    reader.refuse("gpus", "gpus must increase, from at least 1 to at most 1e6");
  type.gpus.assign(quantiles.begin(), quantiles.end());
  read_cdf(reader, "duration_cdf", type.duration_cdf, run_s);
}

void read_size(TableReader& reader, ClusterFigures& cluster) {
  reader.text("name", cluster.name);
  reader.text("vc", cluster.vc);
  reader.whole("nodes", cluster.nodes, {1, 1e6});
  reader.whole("gpus_per_node", cluster.gpus_per_node, {1, 64});
  double memory_mib = 0;
  reader.number("gpu_memory_mib", memory_mib, {1, 16'777'216});
  cluster.gpu_memory_mib = static_cast<std::int64_t>(memory_mib);
  reader.number("gpu_jobs", cluster.gpu_jobs, {1, 1e12});
  reader.number("days", cluster.days, {1, 1e6});
  reader.number("mean_run_s", cluster.mean_run_s, run_s);
  reader.number("mean_gpus", cluster.mean_gpus, gpus);
  reader.number("max_run_s", cluster.max_run_s, run_s);
}

void read_shares(TableReader& reader, ClusterFigures& cluster) {
  read_weights(reader, "state_percent", cluster.state_percent);
  read_weights(reader, "state_gpu_time_s", cluster.state_gpu_time_s);
  read_weights(reader, "hourly", cluster.hourly);
  double users = 0;
  reader.number("users", users, {1, 1e6});
  cluster.users = static_cast<std::int64_t>(users);
  read_cdf(reader, "user_share", cluster.user_share, not_negative);
  read_cdf(reader, "gpu_cdf", cluster.gpu_cdf, gpus);
  read_cdf(reader, "gpu_time_cdf", cluster.gpu_time_cdf, gpus);
  reader.maybe_number("gpu_cdf_holds_to", cluster.gpu_cdf_holds_to, gpus);
  reader.maybe_numbers("large_gpus", cluster.large_gpus, not_negative);
  read_cdf(reader, "duration_cdf", cluster.duration_cdf, run_s);
  std::vector<std::vector<double>> by_gpus;
  reader.maybe_rows("state_by_gpus", by_gpus, 4, not_negative);
  for (const auto& row : by_gpus)
    if (row.size() == 4) cluster.state_by_gpus.push_back({row[0], row[1], row[2], row[3]});
}

void read_types(TableReader& reader, ClusterFigures& cluster) {
  reader.maybe_tables("type",
                      [&](TableReader& type) { read_type(type, cluster.types.emplace_back()); });
  if (cluster.types.empty()) cluster.types.emplace_back().duration_cdf = cluster.duration_cdf;
  double total = 0;
  for (const WorkType& type : cluster.types) total += type.job_percent;
  if (std::abs(total - 100) >= 1) {
    reader.refuse("type",
                  fmt::format("the job_percent of all types must add up to 100, not {}", total));
  }
}

void read_behaviour(TableReader& reader, Behaviour& behaviour) {
  reader.numbers("quantile_percent", behaviour.quantile_percent, share);
  std::vector<std::vector<double>> quantiles;
  std::vector<std::vector<double>> next;
  reader.rows("duration_quantiles", quantiles, behaviour.quantile_percent.size(), not_negative);
  reader.rows("next_state", next, 3, not_negative);
  if (quantiles.size() != 3 || next.size() != 3) {
    const auto* const key = quantiles.size() != 3 ? "duration_quantiles" : "next_state";
    reader.refuse(key, fmt::format("{} must have three lists: completed, cancelled, failed", key));
  } else {
    for (std::size_t i = 0; i < 3; ++i) {
      behaviour.duration_quantiles[i] = quantiles[i];
      if (next[i].size() == 3) std::ranges::copy(next[i], behaviour.next_state[i].begin());
    }
  }
  reader.number("same_shape_within_hour", behaviour.same_shape_within_hour, {0, 99});
  reader.number("repeat_log2_median", behaviour.repeat_log2_median, {0, 100});
  reader.number("repeat_within_factor_2", behaviour.repeat_within_factor_2, share);
  reader.number("random_within_factor_2", behaviour.random_within_factor_2, {0, 99});
  reader.number("zero_gap_percent", behaviour.zero_gap_percent, share);
  reader.number("gap_cv", behaviour.gap_cv, {0, 1000});
  reader.number("resume_after_s", behaviour.resume_after_s, {0, most_run_s});
  reader.number("resumed_percent", behaviour.resumed_percent, share);
  reader.number("checkpoint_s", behaviour.checkpoint_s, run_s);
}

void read_spread(TableReader& reader, std::string_view key, Spread& spread) {
  std::array<double, 2> values{};
  read_numbers(reader, key, values);
  spread = {values[0], values[1]};
}

void read_cause(TableReader& reader, FailureCause& cause) {
  reader.text("reason", cause.reason);
  reader.text("class", cause.kind);
  reader.maybe_text("component", cause.component);
  reader.number("count", cause.count, {1, 1e12});
  read_spread(reader, "gpus", cause.gpus);
  read_spread(reader, "minutes", cause.minutes);
  read_spread(reader, "restart_minutes", cause.restart_minutes);
  reader.maybe_whole("min_gpus", cause.min_gpus, gpus);
  reader.maybe_flag("evaluation", cause.evaluation);
}

}  // namespace

Result<ClusterFigures> parse_figures(std::string_view text, const std::string& name) {
  return parsed<ClusterFigures>(text, name, [](TableReader& reader, ClusterFigures& cluster) {
    read_size(reader, cluster);
    read_shares(reader, cluster);
    read_types(reader, cluster);
  });
}

Result<Behaviour> parse_behaviour(std::string_view text, const std::string& name) {
  return parsed<Behaviour>(text, name, read_behaviour);
}

Result<std::vector<FailureCause>> parse_causes(std::string_view text, const std::string& name) {
  using Causes = std::vector<FailureCause>;
  return parsed<Causes>(text, name, [](TableReader& reader, Causes& causes) {
    reader.tables("cause", [&](TableReader& cause) { read_cause(cause, causes.emplace_back()); });
  });
}

}  // namespace schedmate::synth
