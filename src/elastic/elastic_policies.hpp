// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The elastic policies by name: rows of elastic_policies.def.

#include <cstdint>
#include <schedmate/scheduler.hpp>
#include <span>
#include <string_view>

#include "elastic/bootstrap.hpp"
#include "elastic/rounds.hpp"

namespace schedmate::elastic {

/// What a policy does about what jobs are like.
enum class JobKnowledge : std::uint8_t {
  learns,   ///< from running them, after profiling where that is charged
  matches,  ///< and from similar jobs instead of profiling: options match, hit_pct, finished_only
  as_requested,  ///< nothing: jobs keep the GPUs and the batch that they asked for
};

struct ElasticPolicyRow {
  std::string_view name;
  JobKnowledge knowledge = JobKnowledge::learns;
  std::string_view summary;
  /// `ties`: equal choices are distinguished by this seed, 0 by order. Errors: unsupported for a
  /// value that makes no sense.
  Result<ElasticPolicy> (*make)(PolicyOptions& options, std::uint64_t ties) = nullptr;
};
[[nodiscard]] std::span<const ElasticPolicyRow> elastic_policy_rows();

/// A policy and what it needs around it.
struct ElasticScheduler {
  ElasticPolicy decide;
  JobKnowledge knowledge = JobKnowledge::learns;
  MatchOptions match{};
  bool recovers = false;  ///< failed jobs are restarted by the Failure Handler (recover=)
};

/// Errors: not_found for an unknown policy or option, naming the nearest; unsupported.
[[nodiscard]] Result<ElasticScheduler> make_elastic_scheduler(std::string_view name,
                                                              PolicyOptions options,
                                                              std::uint64_t ties);

#define ELASTIC_POLICY(name, function, use, summary) \
  Result<ElasticPolicy> make_elastic_##function(PolicyOptions& options, std::uint64_t ties);
#include "elastic/elastic_policies.def"
#undef ELASTIC_POLICY

}  // namespace schedmate::elastic
