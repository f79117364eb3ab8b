// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Elastic workloads: a CSV of jobs, and a folder of tables for their applications
/// (docs/formats/elastic.md).

#include <schedmate/result.hpp>
#include <string>

#include "elastic/rounds.hpp"

namespace schedmate {

struct ElasticFiles {
  std::string jobs;    ///< CSV: name, time, application, num_replicas, batch_size [, category]
  std::string tables;  ///< folder with one folder for each application
  std::string traits;  ///< TOML: what tables cannot say of applications
};

/// Reads the jobs, sorted by time, and the tables of the applications that they name. Errors:
/// invalid with file, line and what is needed (of an unknown application the nearest); of reading
/// files.
[[nodiscard]] Result<ElasticWorkload> read_elastic_workload(const ElasticFiles& files,
                                                            const ElasticCluster& cluster);

}  // namespace schedmate
