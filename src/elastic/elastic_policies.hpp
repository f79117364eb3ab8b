// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The elastic policies by name: rows of elastic_policies.def.

#include <array>
#include <cstdint>
#include <schedmate/scheduler.hpp>
#include <span>
#include <string_view>

#include "elastic/rounds.hpp"

namespace schedmate {

struct ElasticPolicyRow {
  std::string_view name;
  std::string_view summary;
  /// `ties`: equal choices are told apart by this seed, 0 by order. Errors: unsupported for a value
  /// that makes no sense.
  Result<ElasticPolicy> (*make)(PolicyOptions& options, std::uint64_t ties);
};
[[nodiscard]] std::span<const ElasticPolicyRow> elastic_policy_rows();

/// Errors: not_found for an unknown policy or option, naming the nearest; unsupported.
[[nodiscard]] Result<ElasticPolicy> make_elastic_policy(std::string_view name,
                                                        PolicyOptions options, std::uint64_t ties);

#define ELASTIC_POLICY(name, summary) \
  Result<ElasticPolicy> make_elastic_##name(PolicyOptions& options, std::uint64_t ties);
#include "elastic/elastic_policies.def"
#undef ELASTIC_POLICY

}  // namespace schedmate
