// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <schedmate/scheduler.hpp>
#include <utility>

#include "base/text.hpp"

namespace schedmate {

namespace policy {
#define POLICY(name, summary) Result<Scheduler> make_##name(const PolicyInput&, PolicyOptions&);
#define VARIANT(name, host, preset, summary)
#include "policy/policies.def"
#undef POLICY
#undef VARIANT
}  // namespace policy

std::span<const PolicyRow> policy_rows() {
  static constexpr std::array rows{
#define POLICY(name, summary) PolicyRow{#name, summary, policy::make_##name, ""},
#define VARIANT(name, host, preset, summary) PolicyRow{name, summary, policy::make_##host, preset},
#include "policy/policies.def"
#undef POLICY
#undef VARIANT
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
  return make_scheduler(*row, input, std::move(options));
}

Result<Scheduler> make_scheduler(const PolicyRow& row, const PolicyInput& input,
                                 PolicyOptions options) {
  options.add_defaults(row.preset);
  Result<Scheduler> scheduler = row.make(input, options);
  if (!scheduler) return scheduler;
  return with_options(row.name, *std::move(scheduler), std::move(options));
}

Result<Scheduler> with_options(std::string_view name, Scheduler scheduler, PolicyOptions options) {
  if (auto estimator = options.take_text("estimate", ""); !estimator.empty())
    scheduler.estimator = std::move(estimator);
  scheduler.advice = options.take_text("advice", "");
  const auto shrink = options.take_flag("shrink", true);
  if (!shrink) return tl::unexpected(shrink.error());
  scheduler.shrink = *shrink;
  const std::string advise = options.take_text("advise", "duration");
  if (advise != "duration" && advise != "order")
    return fail(ErrorCode::unsupported,
                fmt::format("advise={}: must be duration or order", advise));
  scheduler.advice_orders = advise == "order";
  const auto handler = options.take_flag("handler", false);
  if (!handler) return tl::unexpected(handler.error());
  scheduler.handler = *handler;
  if (scheduler.advice == "none") scheduler.advice.clear();
  scheduler.cap = options.take_text("cap", "");
  if (scheduler.cap == "none") scheduler.cap.clear();
  if (const auto known = options.check_all_taken(name); !known)
    return tl::unexpected(known.error());
  return scheduler;
}

}  // namespace schedmate
