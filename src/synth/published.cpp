// SPDX-License-Identifier: Apache-2.0
#include "synth/published.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "synth/toml_reader.hpp"

namespace schedmate {
namespace {

constexpr KeyRange share{0, 100};
constexpr double most_run_s = 1e9;

template <class Value, class Read>
Result<Value> parsed(std::string_view text, const std::string& name, Read read) {
  Value value{};
  const auto done = read_toml(text, name, [&](TomlReader& reader) { value = read(reader); });
  if (!done) return tl::unexpected(done.error());
  return value;
}

template <std::size_t count>
std::array<double, count> exactly(TomlReader& reader, std::string_view key) {
  std::array<double, count> result{};
  std::ranges::copy(reader.numbers(key, count), result.begin());
  if (std::ranges::max(result) <= 0) reader.complain(key, "must have a number above 0");
  return result;
}

Cdf durations(TomlReader& reader) {
  Cdf cdf = reader.cdf("duration_cdf");
  if (!cdf.empty() && (cdf.front().x < 1 || cdf.back().x > most_run_s))
    reader.complain("duration_cdf", "must lie between 1 s and 1e9 s");
  return cdf;
}

Cdf gpu_shares(TomlReader& reader, std::string_view key) {
  Cdf cdf = reader.cdf(key);
  if (!cdf.empty() && (cdf.front().x < 1 || cdf.back().x > 1e6))
    reader.complain(key, "must lie between 1 and 1e6 GPUs");
  return cdf;
}

WorkType read_type(TomlReader& reader) {
  WorkType type;
  type.name = reader.text("name");
  type.job_percent = reader.number("job_percent", share);
  type.gpu_time_percent = reader.number("gpu_time_percent", share);
  type.batches = reader.flag_or("batches", false);
  type.gpus = reader.numbers("gpus", 5);
  if (!std::ranges::is_sorted(type.gpus) || type.gpus[0] < 1 || type.gpus[4] > 1e6)
    reader.complain("gpus", "must rise from at least 1 to at most 1e6");
  type.duration_cdf = durations(reader);
  return type;
}

void read_shares(TomlReader& reader, ClusterFigures& cluster) {
  cluster.state_percent = exactly<3>(reader, "state_percent");
  cluster.state_gpu_time_s = exactly<3>(reader, "state_gpu_time_s");
  cluster.hourly = exactly<24>(reader, "hourly");
  cluster.users = static_cast<std::int64_t>(reader.number("users", {1, 1e6}));
  cluster.user_share = reader.cdf("user_share");
  cluster.gpu_cdf = gpu_shares(reader, "gpu_cdf");
  cluster.gpu_time_cdf = gpu_shares(reader, "gpu_time_cdf");
  cluster.gpu_cdf_holds_to = reader.number_or("gpu_cdf_holds_to", 1e6, {1, 1e6});
  if (reader.has("large_gpus")) cluster.large_gpus = reader.numbers("large_gpus", 0);
  cluster.duration_cdf = durations(reader);
  if (reader.has("state_by_gpus")) {
    for (const auto& row : reader.rows("state_by_gpus", 4))
      cluster.state_by_gpus.push_back({row[0], row[1], row[2], row[3]});
  }
}

ClusterFigures read_cluster_figures(TomlReader& reader) {
  ClusterFigures cluster;
  cluster.name = reader.text("name");
  cluster.vc = reader.text("vc");
  cluster.nodes = static_cast<int>(reader.number("nodes", {1, 1e6}));
  cluster.gpus_per_node = static_cast<int>(reader.number("gpus_per_node", {1, 64}));
  cluster.gpu_memory_mib =
      static_cast<std::int64_t>(reader.number("gpu_memory_mib", {1, 16'777'216}));
  cluster.gpu_jobs = reader.number("gpu_jobs", {1, 1e12});
  cluster.days = reader.number("days", {1, 1e6});
  cluster.mean_run_s = reader.number("mean_run_s", {1, most_run_s});
  cluster.mean_gpus = reader.number("mean_gpus", {1, 1e6});
  cluster.max_run_s = reader.number("max_run_s", {1, most_run_s});
  read_shares(reader, cluster);
  return cluster;
}

void add_types(TomlReader& reader, ClusterFigures& cluster) {
  reader.tables("type", [&](TomlReader& type) { cluster.types.push_back(read_type(type)); });
  if (cluster.types.empty()) cluster.types.emplace_back().duration_cdf = cluster.duration_cdf;
  double total = 0;
  for (const WorkType& type : cluster.types) total += type.job_percent;
  if (std::abs(total - 100) >= 1)
    reader.complain("type",
                    fmt::format("must have a job_percent that adds up to 100, not {}", total));
}

}  // namespace

Result<ClusterFigures> parse_figures(std::string_view text, const std::string& name) {
  return parsed<ClusterFigures>(text, name, [](TomlReader& reader) {
    ClusterFigures cluster = read_cluster_figures(reader);
    add_types(reader, cluster);
    return cluster;
  });
}

Result<Behaviour> parse_behaviour(std::string_view text, const std::string& name) {
  return parsed<Behaviour>(text, name, [](TomlReader& reader) {
    Behaviour behaviour;
    behaviour.quantile_percent = reader.numbers("quantile_percent", 0);
    const auto quantiles = reader.rows("duration_quantiles", behaviour.quantile_percent.size());
    const auto next = reader.rows("next_state", 3);
    if (quantiles.size() != 3 || next.size() != 3) {
      reader.complain(quantiles.size() != 3 ? "duration_quantiles" : "next_state",
                      "must have three lists: completed, cancelled, failed");
    } else {
      for (std::size_t i = 0; i < 3; ++i) {
        behaviour.duration_quantiles[i] = quantiles[i];
        std::ranges::copy(next[i], behaviour.next_state[i].begin());
      }
    }
    behaviour.same_shape_within_hour = reader.number("same_shape_within_hour", {0, 99});
    behaviour.repeat_log2_median = reader.number("repeat_log2_median", {0, 100});
    behaviour.repeat_within_factor_2 = reader.number("repeat_within_factor_2", share);
    behaviour.random_within_factor_2 = reader.number("random_within_factor_2", {0, 99});
    behaviour.zero_gap_percent = reader.number("zero_gap_percent", share);
    behaviour.gap_cv = reader.number("gap_cv", {0, 1000});
    behaviour.resume_after_s = reader.number("resume_after_s", {0, most_run_s});
    behaviour.resumed_percent = reader.number("resumed_percent", share);
    behaviour.checkpoint_s = reader.number("checkpoint_s", {1, most_run_s});
    return behaviour;
  });
}

namespace {

Spread spread(TomlReader& reader, std::string_view key) {
  const auto values = reader.numbers(key, 2);
  return {values[0], values[1]};
}

FailureCause read_cause(TomlReader& reader) {
  FailureCause cause;
  cause.reason = reader.text("reason");
  cause.kind = reader.text("class");
  cause.component = reader.text_or("component", "");
  cause.count = reader.number("count", {1, 1e12});
  cause.gpus = spread(reader, "gpus");
  cause.minutes = spread(reader, "minutes");
  cause.restart_minutes = spread(reader, "restart_minutes");
  cause.min_gpus = static_cast<int>(reader.number_or("min_gpus", 1, {1, 1e6}));
  cause.evaluation = reader.flag_or("evaluation", true);
  return cause;
}

}  // namespace

Result<std::vector<FailureCause>> parse_causes(std::string_view text, const std::string& name) {
  return parsed<std::vector<FailureCause>>(text, name, [](TomlReader& reader) {
    std::vector<FailureCause> causes;
    reader.tables("cause", [&](TomlReader& cause) { causes.push_back(read_cause(cause)); });
    if (causes.empty()) reader.complain("cause", "must have a table at least");
    return causes;
  });
}

}  // namespace schedmate
