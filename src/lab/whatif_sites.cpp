// SPDX-License-Identifier: Apache-2.0
#include "lab/whatif_sites.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <schedmate/scheduler.hpp>

#include "base/text.hpp"
#include "whatif/world.hpp"

namespace schedmate::lab {
namespace {

/// Whether "key=value,..." sets the key.
bool sets(std::string_view list, std::string_view key) {
  const auto items = split(list, ',');
  return std::ranges::any_of(
      items, [&](std::string_view item) { return item.substr(0, item.find('=')) == key; });
}

struct Named {
  std::string_view name, label;
};
/// The policy of this name with the settings of `other` that the preset of a variant leaves alone.
Result<std::optional<study::PolicySpec>> named_like(const study::PolicySpec& other,
                                                    const PolicyRow& variant, const Named& named) {
  std::vector<std::string> settings;
  for (const auto& [key, value] : other.options)
    if (!sets(variant.preset, key)) settings.push_back(fmt::format("{}={}", key, value));
  if (!other.estimator.empty()) settings.push_back("estimate=" + other.estimator);
  auto spec = study::parse_policy(fmt::format("{}{}{}@{}", named.name, settings.empty() ? "" : ":",
                                              fmt::join(settings, ","), named.label));
  if (!spec) return tl::unexpected(spec.error());
  return std::move(*spec);
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
  return named_like(site, *row, {row->name, schedmate_label});
}

Result<std::optional<study::PolicySpec>> host_of(const study::PolicySpec& variant) {
  const auto rows = policy_rows();
  const auto row = std::ranges::find(rows, variant.name, &PolicyRow::name);
  if (row == rows.end() || row->preset.empty()) return std::nullopt;
  const std::string_view host = row->name.substr(0, row->name.find('+'));
  return named_like(variant, *row, {host, host});
}

}  // namespace schedmate::lab
