// SPDX-License-Identifier: Apache-2.0

/// What settings say, as values.

#include <cstdint>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "settings/settings.hpp"

namespace schedmate::settings {

std::int64_t Settings::whole(std::string_view key) const {
  return parse_number<std::int64_t>(text(key)).value_or(0);
}

std::vector<std::string> Settings::names(std::string_view key) const {
  std::vector<std::string> names;
  const std::string joined = text(key);
  for (const std::string_view name : split(joined, ','))
    if (!name.empty()) names.emplace_back(name);
  return names;
}

Defects Settings::defects() const {
  Defects defects;
  for (const SettingRow& row : setting_rows()) {
    if (row.defect != nullptr) defects.*row.defect = flag(row.key);
  }
  return defects;
}

}  // namespace schedmate::settings
