// SPDX-License-Identifier: Apache-2.0
#include "apps/config_command.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "apps/words.hpp"

namespace schedmate {
namespace {

std::string fallback_of(const SettingRow& row) {
  return row.defect == nullptr ? std::string(row.fallback) : "by mode";
}

}  // namespace

void config_command(const Session& session) {
  const Settings& settings = session.settings;
  if (!session.json) {
    const auto shown = [](const std::string& text) { return text.empty() ? "-" : text; };
    std::vector<std::vector<std::string>> rows{
        {"setting", "value", "default", "unit", "origin", "effect"}};
    for (const SettingRow& row : setting_rows()) {
      rows.push_back({std::string(row.key), shown(printable(settings.text(row.key))),
                      shown(fallback_of(row)), shown(std::string(unit_of(row))),
                      printable(settings.origin(row.key)), std::string(row.effect)});
    }
    fmt::print("{}", aligned(rows));
    return;
  }
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const SettingRow& row : setting_rows()) {
    list.push_back({{"setting", row.key},
                    {"value", settings.text(row.key)},
                    {"default", fallback_of(row)},
                    {"unit", unit_of(row)},
                    {"origin", settings.origin(row.key)},
                    {"effect", row.effect}});
  }
  const nlohmann::ordered_json document = {{"schema", "schedmate.config.v1"}, {"settings", list}};
  fmt::print("{}\n", document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
}

}  // namespace schedmate
