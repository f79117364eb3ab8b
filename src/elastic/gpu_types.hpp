// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A cluster of several GPU types, and how a job may be spread over one of them.

#include <cstdint>
#include <schedmate/result.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace schedmate::elastic {

struct GpuType {
  std::string name;
  std::int32_t nodes = 0;
  std::int32_t gpus_per_node = 0;
  std::int32_t measured_nodes = 0;  ///< no job is spread over more nodes than were measured
  [[nodiscard]] std::int32_t gpus() const { return nodes * gpus_per_node; }
};

struct ElasticCluster {
  std::string name;
  std::vector<GpuType> types;  ///< order matters: projections start from the first that is known
  [[nodiscard]] std::int32_t gpus() const;
};

/// [[type]] with name, nodes, gpus_per_node, measured_nodes (docs/formats/elastic.md).
/// Errors: invalid, "FILE:LINE:COLUMN: what, and what is needed".
[[nodiscard]] Result<ElasticCluster> parse_elastic_cluster(std::string_view toml,
                                                           const std::string& file);

/// Whether it can stand in a file's name without leaving the folder: no '/', and not "." or "..".
[[nodiscard]] bool is_folder_name(std::string_view name);

/// GPUs of one type: 1, 2, 4, ... up to a node, then whole nodes.
struct Configuration {
  std::uint16_t type = 0;
  std::int32_t nodes = 1;
  std::int32_t gpus = 1;
  bool operator==(const Configuration&) const = default;
};
/// By type, then by GPUs.
[[nodiscard]] std::vector<Configuration> configurations_of(const ElasticCluster& cluster);

}  // namespace schedmate::elastic
