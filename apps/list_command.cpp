// SPDX-License-Identifier: Apache-2.0
#include "apps/list_command.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <schedmate/advice.hpp>
#include <schedmate/diagnosis.hpp>
#include <schedmate/embed.hpp>
#include <schedmate/estimator.hpp>
#include <schedmate/llm.hpp>
#include <schedmate/scheduler.hpp>
#include <schedmate/store.hpp>
#include <schedmate/trace.hpp>

#include "apps/command.hpp"
#include "base/document.hpp"
#include "base/table.hpp"
#include "base/text.hpp"
#include "base/words.hpp"
#include "elastic/elastic_policies.hpp"
#include "settings/settings.hpp"

namespace schedmate {
namespace {

std::string text_of(const std::vector<ListTable>& tables) {
  std::string text;
  for (const ListTable& table : tables) {
    text += fmt::format("{}{}\n", text.empty() ? "" : "\n", table.name);
    std::vector<std::vector<std::string>> rows;
    for (const ListRow& row : table.rows)
      rows.push_back({fmt::format("  {}", row.name), std::string(row.summary)});
    text += aligned(rows);
  }
  return text;
}

Document document_of(const std::vector<ListTable>& tables) {
  Document document = {{"schema", "schedmate.list.v1"}};
  for (const ListTable& table : tables) {
    auto& list = document[std::string(table.name)] = Document::array();
    for (const ListRow& row : table.rows)
      list.push_back({{"name", row.name}, {"summary", row.summary}});
  }
  return document;
}

}  // namespace

std::vector<ListTable> list_tables() {
  std::vector<ListTable> tables{{"policies", {}}, {"estimators", {}}, {"formats", {}}};
  for (const PolicyRow& row : policy_rows()) tables[0].rows.push_back({row.name, row.summary});
  for (const EstimatorRow& row : estimator_rows())
    tables[1].rows.push_back({row.name, row.summary});
  for (const FormatRow& row : format_rows()) tables[2].rows.push_back({row.name, row.summary});
  tables.push_back(
      {"placers",
       {{"consolidate",
         "fullest node that fits, otherwise entirely free nodes, otherwise the job waits"},
        {"first_fit", "lowest-numbered nodes first, using whatever is free there"},
        {"spread", "emptiest nodes first, using whatever is free there"}}});
  tables.push_back({"estimates", {}});
  for (const EstimateRow& row : estimate_rows())
    tables.back().rows.push_back({row.name, row.summary});
  tables.push_back({"stores", {}});
  for (const StoreRow& row : store_rows()) tables.back().rows.push_back({row.name, row.summary});
  tables.push_back({"embedders", {}});
  for (const EmbedderRow& row : embedder_rows())
    tables.back().rows.push_back({row.name, row.summary});
  tables.push_back({"chats", {}});
  for (const ChatKind& kind : chat_kinds()) tables.back().rows.push_back({kind.name, kind.summary});
  tables.push_back({"locators", {}});
  for (const SeamRow& row : locator_names()) tables.back().rows.push_back({row.name, row.summary});
  tables.push_back({"classifiers", {}});
  for (const SeamRow& row : classifier_names())
    tables.back().rows.push_back({row.name, row.summary});
  tables.push_back({"witnesses", {}});
  for (const SeamRow& row : witness_names()) tables.back().rows.push_back({row.name, row.summary});
  tables.push_back({"elastic_policies", {}});
  for (const elastic::ElasticPolicyRow& row : elastic::elastic_policy_rows())
    tables.back().rows.push_back({row.name, row.summary});
  tables.push_back({"settings", {}});
  for (const settings::SettingRow& row : settings::setting_rows())
    tables.back().rows.push_back({row.key, row.effect});
  return tables;
}

std::vector<std::string> list_kinds() {
  std::vector<std::string> names;
  for (const ListTable& table : list_tables()) names.emplace_back(table.name);
  return names;
}

std::vector<std::string> table_names(std::string_view table, std::string_view suffix) {
  const auto tables = list_tables();
  std::vector<std::string> names;
  for (const ListRow& row : std::ranges::find(tables, table, &ListTable::name)->rows)
    names.push_back(std::string(row.name).append(suffix));
  return names;
}

namespace {

Result<void> print_tables(const CommandCall& call, std::string_view table) {
  std::vector<ListTable> tables = list_tables();
  if (!table.empty()) {
    const auto wanted = std::ranges::find(tables, table, &ListTable::name);
    if (wanted == tables.end()) {
      std::vector<std::string_view> names;
      for (const ListTable& each : tables) names.push_back(each.name);
      return fail(ErrorCode::not_found, unknown_name("table", table, names));
    }
    tables = std::vector{std::move(*wanted)};
  }
  if (call.json)
    call.console.json(document_of(tables));
  else
    call.console.text(text_of(tables));
  return {};
}

}  // namespace

Command list_command(const Parser& parser) {
  const auto table = std::make_shared<std::string>();
  parser.app.footer("Example:\n  schedmate list policies");
  parser.app.add_option("table", *table, "table to show; default: all")->type_name("TABLE");
  return {[table](const CommandCall& call) { return done(print_tables(call, *table)); }};
}

}  // namespace schedmate
