// SPDX-License-Identifier: Apache-2.0
#include "service/whatif_sites.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <schedmate/scheduler.hpp>

#include "base/text.hpp"
#include "whatif/world.hpp"

namespace schedmate::service {
namespace {

/// Whether "key=value,..." sets the key.
bool sets(std::string_view list, std::string_view key) {
  const auto items = split(list, ',');
  return std::ranges::any_of(
      items, [&](std::string_view item) { return item.substr(0, item.find('=')) == key; });
}

}  // namespace

std::vector<std::string> default_sites() {
  return {fmt::format("slurm_backfill:estimate=column:{}", whatif::limit_column),
          fmt::format("slurm_backfill:weight_age=0,weight_job_size=0,weight_fairshare=0,"
                      "estimate=column:{}",
                      whatif::limit_column)};
}

std::vector<std::string> default_policies() {
  return {"backfill_easy:estimate=last_k@backfill_last_k", "qssf:estimate=last_k@qssf_last_k",
          "tiresias", "srtf:estimate=oracle@srtf_oracle"};
}

Result<std::optional<study::PolicySpec>> with_schedmate(const study::PolicySpec& site) {
  const auto rows = policy_rows();
  const auto row = std::ranges::find(rows, site.name + "+sm", &PolicyRow::name);
  if (row == rows.end()) return std::nullopt;
  std::vector<std::string> settings;
  for (const auto& [key, value] : site.options)
    if (!sets(row->preset, key)) settings.push_back(fmt::format("{}={}", key, value));
  if (!site.estimator.empty()) settings.push_back("estimate=" + site.estimator);
  auto spec = study::parse_policy(fmt::format("{}{}{}@{}", row->name, settings.empty() ? "" : ":",
                                              fmt::join(settings, ","), schedmate_label));
  if (!spec) return tl::unexpected(spec.error());
  return std::move(*spec);
}

}  // namespace schedmate::service
