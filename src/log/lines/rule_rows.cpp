// SPDX-License-Identifier: Apache-2.0
#include "log/lines/rule_rows.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "base/input.hpp"
#include "base/table_reader.hpp"

namespace schedmate::lines {
namespace {

struct Source {
  std::string name;  ///< for messages
  std::string_view text;
};

Result<void> add_rows(const Source& source, const RuleTable& table, std::vector<RuleRow>& rows) {
  return TableReader::read(source.text, source.name, [&](TableReader& file) {
    file.maybe_tables(table.kind, [&](TableReader& from) {
      RuleRow& row = rows.emplace_back();
      row.place = from.where(from.place());
      for (const std::string_view key : table.keys) {
        std::vector<std::string> list;
        if (from.maybe_plain(key, list)) row.values.emplace(key, std::move(list));
      }
    });
  });
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
  return fail(ErrorCode::invalid, fmt::format("{}: {}", place, what));
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

}  // namespace schedmate::lines
