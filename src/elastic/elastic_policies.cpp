// SPDX-License-Identifier: Apache-2.0
#include "elastic/elastic_policies.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/text.hpp"

namespace schedmate {
namespace {

constexpr std::array elastic_rows{
#define ELASTIC_POLICY(name, summary) ElasticPolicyRow{#name, summary, make_elastic_##name},
#include "elastic/elastic_policies.def"
#undef ELASTIC_POLICY
};

}  // namespace

std::span<const ElasticPolicyRow> elastic_policy_rows() { return elastic_rows; }

Result<ElasticPolicy> make_elastic_policy(std::string_view name, PolicyOptions options,
                                          std::uint64_t ties) {
  const auto* const row = std::ranges::find(elastic_rows, name, &ElasticPolicyRow::name);
  if (row == elastic_rows.end()) {
    std::vector<std::string_view> names;
    for (const ElasticPolicyRow& each : elastic_rows) names.push_back(each.name);
    return fail(ErrorCode::not_found, unknown_name("elastic policy", name, names));
  }
  auto policy = row->make(options, ties);
  if (!policy) return policy;
  if (auto taken = options.check_all_taken(name); !taken) return tl::unexpected(taken.error());
  return policy;
}

}  // namespace schedmate
