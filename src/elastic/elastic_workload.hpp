// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Elastic workloads: a CSV of jobs, and a folder of tables for their applications
/// (docs/formats/elastic.md).

#include <functional>
#include <schedmate/result.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "elastic/rounds.hpp"

namespace schedmate::elastic {

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

/// Where the tables of an application come from; called once for each that a job names.
using LoadApplication = std::function<Result<Application>(const ApplicationTraits& traits)>;
/// The jobs alone, of a text. Errors: invalid with file, line and what is needed.
[[nodiscard]] Result<ElasticWorkload> parse_elastic_jobs(
    std::string_view csv, const std::string& file, const std::vector<ApplicationTraits>& traits,
    const LoadApplication& load);

}  // namespace schedmate::elastic
