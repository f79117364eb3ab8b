// SPDX-License-Identifier: Apache-2.0
#include "log/failure/locate.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"

namespace schedmate {
namespace {

constexpr std::array locators{
#define LOCATOR(name, summary) failure::LocatorRow{#name, summary, failure::locate_##name},
#include "log/failure/locators.def"
#undef LOCATOR
};

constexpr std::size_t most_state_text = 2000;

}  // namespace

std::span<const failure::LocatorRow> failure::locator_rows() { return locators; }

std::vector<SeamRow> locator_names() {
  std::vector<SeamRow> names;
  for (const failure::LocatorRow& row : locators) names.push_back({row.name, row.summary});
  return names;
}

Result<const failure::LocatorRow*> failure::find_locator(std::string_view name) {
  const auto* const row = std::ranges::find(locators, name, &failure::LocatorRow::name);
  if (row != locators.end()) return row;
  std::vector<std::string_view> names;
  for (const failure::LocatorRow& each : locators) names.push_back(each.name);
  return fail(ErrorCode::not_found, unknown_name("locator", name, names));
}

failure::FailureLine failure::failure_line(std::string_view state,
                                           const failure::LineVerdict& verdict) {
  const lines::PrefixedLine line = lines::read_prefixes(state);
  failure::FailureLine made;
  made.text = state.substr(0, most_state_text);
  made.role = verdict.role;
  made.weight = verdict.weight;
  made.rank = line.rank;
  made.time = line.time;
  return made;
}

}  // namespace schedmate
