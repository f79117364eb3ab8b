// SPDX-License-Identifier: Apache-2.0
#include "log/lines/rule_rows.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <filesystem>

#include "base/input.hpp"
#include "base/text.hpp"

namespace schedmate {
namespace {

struct Source {
  std::string name;  ///< for messages
  std::string_view text;
};

tl::unexpected<Error> refuse_at(const std::string& place, std::string_view what) {
  return fail(ErrorCode::invalid, fmt::format("{}: {}", place, what));
}

std::string as_text(const toml::node& node) {
  if (const auto* flag = node.as_boolean()) return flag->get() ? "true" : "false";
  if (const auto* whole = node.as_integer()) return fmt::format("{}", whole->get());
  if (const auto* real = node.as_floating_point()) return fmt::format("{}", real->get());
  return node.value<std::string>().value_or("");
}

Result<RuleRow> read_row(const Source& source, const RuleTable& table, const toml::table& from) {
  RuleRow row;
  row.place = fmt::format("{}:{}", source.name, from.source().begin.line);
  for (const auto& [key, node] : from) {
    const auto name = key.str();
    if (std::ranges::find(table.keys, name) == table.keys.end())
      return refuse_at(row.place, unknown_name("key", name, table.keys));
    auto& list = row.values[std::string(name)];
    if (const auto* many = node.as_array()) {
      for (const auto& each : *many) list.push_back(as_text(each));
    } else {
      list.push_back(as_text(node));
    }
  }
  return row;
}

Result<void> add_rows(const Source& source, const RuleTable& table, std::vector<RuleRow>& rows) {
  try {
    const toml::table parsed = toml::parse(source.text);
    for (const auto& [key, value] : parsed) {
      const toml::array* list = value.as_array();
      if (key.str() != table.kind || list == nullptr)
        return refuse_at(source.name, fmt::format("expected [[{}]] only", table.kind));
      for (const auto& each : *list) {
        const toml::table* from = each.as_table();
        if (from == nullptr)
          return refuse_at(source.name, fmt::format("expected [[{}]]", table.kind));
        auto row = read_row(source, table, *from);
        if (!row) return tl::unexpected(row.error());
        rows.push_back(*std::move(row));
      }
    }
  } catch (const toml::parse_error& error) {
    return refuse_at(fmt::format("{}:{}", source.name, error.source().begin.line),
                     error.description());
  }
  return {};
}

}  // namespace

const std::vector<std::string>& RuleRow::list(std::string_view key) const {
  static const std::vector<std::string> none;
  const auto held = values.find(key);
  return held == values.end() ? none : held->second;
}

const std::string& RuleRow::text(std::string_view key) const {
  static const std::string none;
  const auto& all = list(key);
  return all.empty() ? none : all.front();
}

tl::unexpected<Error> RuleRow::refuse(std::string_view what) const {
  return refuse_at(place, what);
}

Result<std::vector<RuleRow>> rule_rows(const RuleTable& table, const std::string& folder) {
  std::vector<RuleRow> rows;
  const auto own = std::filesystem::path(folder) / table.file;
  std::error_code ignored;
  if (!folder.empty() && std::filesystem::exists(own, ignored)) {
    const auto text = read_file(own.string());
    if (!text) return tl::unexpected(text.error());
    if (auto done = add_rows({own.string(), *text}, table, rows); !done)
      return tl::unexpected(done.error());
  }
  if (auto done = add_rows({fmt::format("rules/{}", table.file), table.text}, table, rows); !done)
    return tl::unexpected(done.error());
  return rows;
}

}  // namespace schedmate
