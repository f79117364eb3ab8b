// SPDX-License-Identifier: Apache-2.0
#include "synth/resample.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "synth/arrivals.hpp"

namespace schedmate::synth {
namespace {

constexpr double most_nodes = 1e6;  // as a cluster file may have

std::int64_t gpus_of(const PartitionSpec& vc) { return std::int64_t{vc.nodes} * vc.gpus_per_node; }

std::int64_t gpus_of(const ClusterSpec& cluster) {
  return std::accumulate(
      cluster.partitions.begin(), cluster.partitions.end(), std::int64_t{0},
      [](std::int64_t sum, const PartitionSpec& vc) { return sum + gpus_of(vc); });
}

/// Jobs that fit into their VC, as indices into the source.
std::vector<std::uint32_t> drawable(const Trace& source, const ClusterSpec& cluster) {
  std::vector<std::int64_t> room;  // by VC of the trace
  for (const std::string& name : source.vcs) {
    const auto vc = std::ranges::find(cluster.partitions, name, &PartitionSpec::name);
    room.push_back(vc == cluster.partitions.end() ? 0 : gpus_of(*vc));
  }
  std::vector<std::uint32_t> rows;
  for (std::uint32_t row = 0; row < source.jobs.size(); ++row) {
    if (source.jobs[row].gpus <= room[source.jobs[row].vc]) rows.push_back(row);
  }
  return rows;
}

}  // namespace

Result<ClusterSpec> scale_cluster(const ClusterSpec& cluster, std::int64_t gpus) {
  ClusterSpec scaled = cluster;
  const double factor = static_cast<double>(gpus) / static_cast<double>(gpus_of(cluster));
  for (PartitionSpec& vc : scaled.partitions) {
    const double nodes = std::max(1.0, vc.nodes * factor * (1 + 1e-12));
    if (nodes > most_nodes) {
      return fail(ErrorCode::unsupported, fmt::format("--gpus {}: too many", gpus));
    }
    vc.nodes = static_cast<int>(nodes);
  }
  auto& largest = *std::ranges::max_element(scaled.partitions, {},
                                            [](const PartitionSpec& vc) { return gpus_of(vc); });
  const std::int64_t rest = gpus - gpus_of(scaled);
  const std::int64_t step = largest.gpus_per_node;
  const std::int64_t more = rest >= 0 ? rest / step : -((-rest + step - 1) / step);
  if (largest.nodes + more < 1) {
    return fail(ErrorCode::unsupported,
                fmt::format("--gpus {}: the source has {} VCs, and each needs a node", gpus,
                            scaled.partitions.size()));
  }
  largest.nodes += static_cast<int>(more);
  return scaled;
}

Result<Resampled> resample(const Trace& source, const ClusterSpec& cluster,
                           const ResampleOptions& options) {
  auto scaled = scale_cluster(cluster, options.gpus);
  if (!scaled) return tl::unexpected(scaled.error());
  const auto rows = drawable(source, *scaled);
  if (rows.empty()) {
    return fail(ErrorCode::unsupported,
                fmt::format("--gpus {}: no job of the source fits into its VC", options.gpus));
  }
  Resampled result;
  result.gpus = gpus_of(*scaled);
  result.cluster = std::move(*scaled);
  result.rows.reserve(static_cast<std::size_t>(options.jobs));
  Random random(mix(options.seed));
  double gpu_s = 0;
  for (std::int64_t i = 0; i < options.jobs; ++i) {
    const auto drawn = static_cast<std::size_t>(random.below(std::ssize(rows)));
    const Job& job = source.jobs[rows[drawn]];
    gpu_s += static_cast<double>(job.gpus) * static_cast<double>(job.duration.count());
    result.rows.push_back(rows[drawn]);
  }
  const double span_s = gpu_s / (static_cast<double>(result.gpus) * options.load);
  constexpr double longest_s = 1000.0 * 365 * 86'400;
  if (span_s > longest_s) {
    return fail(ErrorCode::unsupported,
                "the load is so low that the trace would last longer than "
                "1,000 years: raise --load or lower --gpus");
  }
  result.span = Seconds(std::max<std::int64_t>(1, static_cast<std::int64_t>(span_s)));
  result.submits =
      Arrivals(source).draw(result.rows.size(), result.span, Random(mix(mix(options.seed) + 1)));
  return result;
}

}  // namespace schedmate::synth
