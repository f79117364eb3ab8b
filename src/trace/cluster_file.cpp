// SPDX-License-Identifier: Apache-2.0

/// docs/formats/cluster.md: the cluster as TOML.

#include <fmt/format.h>

#include <algorithm>

#include "base/table_reader.hpp"
#include "trace/builder.hpp"
#include "trace/cluster_of_trace.hpp"
#include "trace/readers.hpp"

namespace schedmate {
namespace {

/// What may stand at the top, for all VCs, and in each VC.
void read_settings(TableReader& table, PartitionSpec& spec) {
  table.maybe_whole("nodes", spec.nodes, {1, 1'000'000});
  table.maybe_whole("gpus_per_node", spec.gpus_per_node, {1, 64});
  table.maybe_text("gpu_type", spec.gpu_type);
  table.maybe_whole("gpu_memory_mib", spec.gpu_memory_mib, {1, 16'777'216});
  if (std::int64_t round_s = 0; table.maybe_whole("round_s", round_s, {1, 86'400}))
    spec.round = Seconds(round_s);
}

void read_vc(TableReader& table, PartitionSpec vc, ClusterSpec& cluster) {
  read_settings(table, vc);
  table.text("name", vc.name);
  if (std::ranges::find(cluster.partitions, vc.name, &PartitionSpec::name) !=
      cluster.partitions.end())
    table.refuse("name", fmt::format("a VC called '{}' is listed twice", vc.name));
  cluster.partitions.push_back(std::move(vc));
}

}  // namespace

Result<ClusterSpec> trace::parse_cluster(std::string_view text, const std::string& name) {
  ClusterSpec cluster;
  const auto done = TableReader::read(text, name, [&](TableReader& file) {
    PartitionSpec defaults;
    read_settings(file, defaults);
    file.maybe_tables("vc", [&](TableReader& table) { read_vc(table, defaults, cluster); });
    defaults.name = trace::whole_cluster;
    if (cluster.partitions.empty()) cluster.partitions.push_back(std::move(defaults));
  });
  if (!done) return tl::unexpected(done.error());
  for (const PartitionSpec& each : cluster.partitions) {
    if (each.nodes > 0) continue;
    return fail(ErrorCode::invalid,
                fmt::format("{}: VC '{}' has no nodes; set nodes = N in it or at the top", name,
                            each.name));
  }
  return cluster;
}

Result<ClusterSpec> read_cluster(const std::string& path) {
  const auto text = read_file(path);
  if (!text) return tl::unexpected(text.error());
  return trace::parse_cluster(*text, path);
}

Result<ClusterSpec> trace::cluster_of_trace(const Trace& trace, const std::string& file,
                                            std::string_view name, std::string_view mend) {
  if (!file.empty()) return read_cluster(file);
  if (trace.cluster) return *trace.cluster;
  return fail(ErrorCode::unsupported,
              fmt::format("{} does not describe its cluster: {}", name, mend));
}

}  // namespace schedmate
