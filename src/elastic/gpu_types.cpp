// SPDX-License-Identifier: Apache-2.0
#include "elastic/gpu_types.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/table_reader.hpp"

namespace schedmate::elastic {
namespace {

void read_type(TableReader& reader, ElasticCluster& cluster) {
  GpuType type;
  reader.text("name", type.name);
  reader.whole("nodes", type.nodes, {1, 100'000});
  reader.whole("gpus_per_node", type.gpus_per_node, {1, 64});
  type.measured_nodes = type.nodes;
  reader.maybe_whole("measured_nodes", type.measured_nodes, {1, 100'000});
  if (!is_folder_name(type.name))
    reader.refuse("name", "name is part of the tables' file names and must not contain '/'");
  if (std::ranges::find(cluster.types, type.name, &GpuType::name) != cluster.types.end())
    reader.refuse("name",
                  fmt::format("the type {} is listed twice; names must be unique", type.name));
  cluster.types.push_back(std::move(type));
}

}  // namespace

std::int32_t ElasticCluster::gpus() const {
  std::int32_t sum = 0;
  for (const GpuType& type : types) sum += type.gpus();
  return sum;
}

Result<ElasticCluster> parse_elastic_cluster(std::string_view toml, const std::string& file) {
  ElasticCluster cluster;
  const auto done = TableReader::read(toml, file, [&](TableReader& reader) {
    reader.text("name", cluster.name);
    reader.tables("type", [&](TableReader& type) { read_type(type, cluster); });
  });
  if (!done) return tl::unexpected(done.error());
  return cluster;
}

bool is_folder_name(std::string_view name) {
  return name.find('/') == std::string_view::npos && name != "." && name != "..";
}

std::vector<Configuration> configurations_of(const ElasticCluster& cluster) {
  std::vector<Configuration> all;
  for (std::size_t i = 0; i < cluster.types.size(); ++i) {
    const GpuType& type = cluster.types[i];
    const auto index = static_cast<std::uint16_t>(i);
    for (std::int32_t gpus = 1; gpus < type.gpus_per_node; gpus *= 2)
      all.push_back({index, 1, gpus});
    for (std::int32_t nodes = 1; nodes <= std::min(type.nodes, type.measured_nodes); ++nodes)
      all.push_back({index, nodes, nodes * type.gpus_per_node});
  }
  return all;
}

}  // namespace schedmate::elastic
