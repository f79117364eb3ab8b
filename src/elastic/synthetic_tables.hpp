// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Elastic workloads of our own: tables, jobs and a cluster, made with the throughput model
/// from a few figures. Nothing of it was measured, and no released table is in it.

#include <string>
#include <vector>

#include "elastic/synthetic_parameters.hpp"
#include "elastic/throughput.hpp"

namespace schedmate::elastic {

struct SyntheticFile {
  std::string path;  ///< relative, with '/'
  std::string text;
};

/// CLUSTER.toml, TABLES/jobs.csv, TABLES/applications.toml and TABLES/APPLICATION/*.csv, as
/// docs/formats/elastic.md has them. Equal parameters give equal bytes.
[[nodiscard]] std::vector<SyntheticFile> make_elastic_tables(const SyntheticParameters& made);

/// How long steps of an application take on the type of this place: computing by floating-point
/// operations, the exchange of gradients as a ring all-reduce.
[[nodiscard]] ThroughputModel synthetic_model(const SyntheticApplication& application,
                                              const std::vector<SyntheticGpuType>& types,
                                              std::size_t place);

}  // namespace schedmate::elastic
