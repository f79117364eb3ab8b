// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <schedmate/scheduler.hpp>
#include <utility>

#include "base/text.hpp"

namespace schedmate {

#define POLICY(name, summary) Result<Scheduler> make_##name(const PolicyInput&, PolicyOptions&);
#include "policy/policies.def"
#undef POLICY

std::span<const PolicyRow> policy_rows() {
  static constexpr std::array rows{
#define POLICY(name, summary) PolicyRow{#name, summary, make_##name},
#include "policy/policies.def"
#undef POLICY
  };
  return rows;
}

Result<Scheduler> make_scheduler(std::string_view name, const PolicyInput& input,
                                 PolicyOptions options) {
  const auto rows = policy_rows();
  const auto row = std::ranges::find(rows, name, &PolicyRow::name);
  if (row == rows.end()) {
    std::vector<std::string_view> names;
    for (const PolicyRow& each : rows) names.push_back(each.name);
    return fail(ErrorCode::not_found, unknown_name("policy", name, names));
  }
  Result<Scheduler> scheduler = row->make(input, options);
  if (!scheduler) return scheduler;
  if (const auto known = options.check_all_taken(name); !known)
    return tl::unexpected(known.error());
  return scheduler;
}

}  // namespace schedmate
