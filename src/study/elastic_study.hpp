// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Elastic simulations: their inputs and one run of a policy, for `simulate` and `evaluate`.

#include <cstdint>
#include <schedmate/recipe.hpp>
#include <schedmate/result.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "elastic/rounds.hpp"
#include "settings/settings.hpp"
#include "study/policy_spec.hpp"

namespace schedmate::study {

inline constexpr std::string_view elastic_prefix = "sia:";
/// Whether the trace is one of jobs that may be resized.
[[nodiscard]] inline bool is_elastic_trace(std::string_view spec) {
  return spec.starts_with(elastic_prefix);
}

struct ElasticPlaces {
  std::string jobs;     ///< CSV
  std::string tables;   ///< folder
  std::string cluster;  ///< a file, or the name of a bundled one
  double hours = 0;     ///< jobs that are submitted later are left out; 0 = none
};
/// Of a trace "sia:FILE" under these settings.
[[nodiscard]] ElasticPlaces places_of(const settings::Settings& settings, const std::string& trace,
                                      const std::string& cluster);

struct ElasticInputs {
  elastic::ElasticCluster cluster;
  elastic::ElasticWorkload workload;
  ExtractionErrors errors;  ///< of what the Advisor reads
};
/// Errors: of reading them; unsupported when one is not given, invalid when no job is left.
[[nodiscard]] Result<ElasticInputs> read_elastic(const ElasticPlaces& places);
/// All files that read_elastic() may read, sorted. Errors: as read_elastic.
[[nodiscard]] Result<std::vector<std::string>> elastic_files(const ElasticPlaces& places);

[[nodiscard]] std::vector<std::string_view> elastic_policy_names();

/// One run. Perturbation 0 breaks ties by order, others by lot; it also seeds who is found similar,
/// failures and early ends. Errors: of making the policy and of the simulation.
[[nodiscard]] Result<elastic::ElasticResult> run_elastic(const ElasticInputs& inputs,
                                                         const settings::Settings& settings,
                                                         const PolicySpec& policy,
                                                         std::uint64_t perturbation);

}  // namespace schedmate::study
