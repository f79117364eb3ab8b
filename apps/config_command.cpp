// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <array>
#include <memory>
#include <nlohmann/json.hpp>
#include <schedmate/llm.hpp>

#include "apps/command.hpp"
#include "base/document.hpp"
#include "base/table.hpp"
#include "base/words.hpp"
#include "secrets/outgoing.hpp"

namespace schedmate {
namespace {

using Row = std::vector<std::string>;  ///< setting, value, default, unit, origin, effect
constexpr std::array columns{"setting", "value", "default", "unit", "origin", "effect"};

std::vector<Row> rows_of(const settings::Settings& settings) {
  std::vector<Row> rows;
  for (const settings::SettingRow& row : settings::setting_rows()) {
    rows.push_back({std::string(row.key), secrets::redacted(settings.text(row.key)),
                    row.defect == nullptr ? std::string(row.fallback) : "by mode",
                    std::string(settings::unit_of(row)), settings.origin(row.key),
                    std::string(row.effect)});
  }
  for (const std::string& name : settings.models()) {
    const auto given = settings.model(name);
    for (const ChatSettingRow& row : chat_setting_rows()) {
      const std::string key = fmt::format("llm.{}.{}", name, row.key);
      const auto found = given.find(std::string(row.key));
      rows.push_back(
          {key, found == given.end() ? std::string(row.fallback) : secrets::redacted(found->second),
           std::string(row.fallback), std::string(row.unit), settings.origin(key),
           std::string(row.effect)});
    }
  }
  return rows;
}

std::string text_of(const std::vector<Row>& rows, std::size_t width) {
  constexpr std::array<int, columns.size()> ranks{0, 0, 2, 4, 1, 3};
  std::vector<TableColumn> names;
  for (const char* const name : columns) names.push_back({name, ranks.at(names.size())});
  names.back().least = 24;
  names.back().too_long = TooLong::folded;
  std::vector<std::vector<Cell>> table;
  for (const Row& row : rows)
    for (std::vector<Cell>& cells = table.emplace_back(); const std::string& cell : row)
      cells.emplace_back(cell.empty() ? "-" : printable(cell));
  return table_text(names, table, width);
}

void print_settings(const CommandCall& call) {
  const std::vector<Row> rows = rows_of(call.session.settings);
  if (!call.json) return call.console.text(text_of(rows, call.session.environment.columns));
  Document list = Document::array();
  for (const Row& row : rows) {
    auto& object = list.emplace_back(Document::object());
    for (std::size_t i = 0; i < columns.size(); ++i) object[columns[i]] = row[i];
  }
  const Document document = {{"schema", "schedmate.config.v1"}, {"settings", std::move(list)}};
  call.console.json(document);
}

}  // namespace

Command config_command(const Parser& parser) {
  parser.app.footer("Example:\n  schedmate config --set placement=spread --json");
  return {[](const CommandCall& call) -> Result<int> {
    print_settings(call);
    return 0;
  }};
}

}  // namespace schedmate
