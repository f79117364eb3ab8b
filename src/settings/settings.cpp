// SPDX-License-Identifier: Apache-2.0
#include "settings/settings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <ranges>
#include <schedmate/llm.hpp>
#include <utility>

#include "base/characters.hpp"
#include "base/check.hpp"
#include "base/text.hpp"

namespace schedmate::settings {
namespace {

constexpr std::array costs_of_failures{"cost.checkpoint_s", "cost.detection_s",
                                       "cost.manual_restart_s", "cost.handled_restart_s"};

const SettingRow* find_row(std::string_view key) {
  const auto rows = setting_rows();
  const auto row = std::ranges::find(rows, key, &SettingRow::key);
  return row == rows.end() ? nullptr : &*row;
}

Result<void> check_value(const SettingRow& row, std::string_view value) {
  const auto wrong = [&](std::string_view needed) {
    return fail(ErrorCode::unsupported, fmt::format("{}={}: {}", row.key, value, needed));
  };
  switch (row.kind) {
    case SettingKind::choice: {
      const auto names = split(row.choices, '|');
      if (std::ranges::find(names, value) != names.end()) return {};
      return fail(ErrorCode::not_found, unknown_name(row.key, value, names));
    }
    case SettingKind::flag:
      if (value == "true" || value == "false") return {};
      return wrong("must be true or false");
    case SettingKind::seconds:
    case SettingKind::count:
    case SettingKind::whole: {
      const auto number = parse_number<std::int64_t>(value);
      const bool is_count = row.kind == SettingKind::count;
      if (!number && !value.empty() && std::ranges::all_of(value, is_digit))
        return wrong(fmt::format("must be at most {}", std::numeric_limits<std::int64_t>::max()));
      if (!number || *number < (is_count ? 1 : 0)) {
        return wrong(is_count ? "must be a whole number of at least 1"
                              : "must be a whole number of at least 0");
      }
      if (!row.choices.empty() && *number > parse_number<std::int64_t>(row.choices).value_or(0))
        return wrong(fmt::format("at most {}", row.choices));
      if (row.kind == SettingKind::seconds && *number > 86'400) return wrong("at most 86400 s");
      return {};
    }
    case SettingKind::folder:
    case SettingKind::names:
    case SettingKind::text:
      return {};
  }
  return {};
}

/// There are too many to name all: at most three that are spelled much alike.
std::string unknown_setting(std::string_view key) {
  constexpr std::size_t most = 3;
  const std::size_t most_edits = std::max<std::size_t>(2, key.size() / 3);
  std::vector<std::pair<std::size_t, std::string_view>> alike;
  for (const SettingRow& row : setting_rows()) {
    const bool begun = !key.empty() && row.key.starts_with(key);
    const std::size_t edits = begun ? 0 : edit_distance(key.substr(0, 64), row.key);
    if (edits <= most_edits) alike.emplace_back(edits, row.key);
  }
  std::ranges::stable_sort(alike, {}, &std::pair<std::size_t, std::string_view>::first);
  alike.resize(std::min(alike.size(), most));
  const auto names = std::views::values(alike);
  return fmt::format("unknown setting '{}' ({}{}schedmate config lists all)", key,
                     alike.empty() ? "" : "nearest: ",
                     alike.empty() ? "" : fmt::format("{}; ", fmt::join(names, ", ")));
}

/// llm.NAME.KEY taken apart. NAME may hold dots, KEY does not.
struct ModelKey {
  std::string name, key;
};
std::optional<ModelKey> model_key(std::string_view full) {
  constexpr std::string_view start = "llm.";
  const std::size_t dot = full.rfind('.');
  if (!full.starts_with(start) || dot < start.size()) return std::nullopt;
  return ModelKey{std::string(full.substr(start.size(), dot - start.size())),
                  std::string(full.substr(dot + 1))};
}

/// `none`, a comma and a colon mean something to --llm.
Result<void> check_model(const ModelKey& each, std::string_view value) {
  if (each.name.empty() || each.name == "none" || each.name.find_first_of(",:") < each.name.size())
    return fail(ErrorCode::unsupported, fmt::format("'{}' is not a valid model name", each.name));
  return read_chat_settings(each.name, {{each.key, std::string(value)}}).map([](const auto&) {});
}

}  // namespace

bool is_cost_of_failures(const SettingRow& row) {
  return std::ranges::find(costs_of_failures, row.key) != costs_of_failures.end();
}

std::string_view unit_of(const SettingRow& row) {
  return row.kind == SettingKind::seconds ? "s" : "";
}

Result<void> Settings::set(std::string_view key, std::string_view value, std::string_view origin) {
  const SettingRow* row = find_row(key);
  if (const auto model = row == nullptr ? model_key(key) : std::nullopt) {
    if (auto ok = check_model(*model, value); !ok) return ok;
    given_[std::string(key)] = {std::string(value), std::string(origin)};
    return {};
  }
  if (row == nullptr) return fail(ErrorCode::not_found, unknown_setting(key));
  if (auto ok = check_value(*row, value); !ok) return ok;
  given_[std::string(key)] = {std::string(value), std::string(origin)};
  return {};
}

std::string Settings::text(std::string_view key) const {
  if (const auto found = given_.find(key); found != given_.end()) return found->second.text;
  const SettingRow* row = find_row(key);
  SCHEDMATE_CHECK(row != nullptr, "the code asks for settings that exist");
  if (row->defect == nullptr) return std::string(row->fallback);
  return text("mode") == "reference" ? "true" : "false";
}

std::string Settings::origin(std::string_view key) const {
  if (const auto found = given_.find(key); found != given_.end()) return found->second.origin;
  const SettingRow* row = find_row(key);
  return row != nullptr && row->defect != nullptr ? "mode" : "default";
}

std::vector<std::string> Settings::models() const {
  std::vector<std::string> names;
  for (const auto& [key, value] : given_) {
    auto model = model_key(key);
    if (model && std::ranges::find(names, model->name) == names.end())
      names.push_back(std::move(model->name));
  }
  std::ranges::sort(names);
  return names;
}

std::map<std::string, std::string> Settings::model(std::string_view name) const {
  std::map<std::string, std::string> table;
  for (const auto& [key, value] : given_)
    if (const auto model = model_key(key); model && model->name == name)
      table[model->key] = value.text;
  return table;
}

}  // namespace schedmate::settings
