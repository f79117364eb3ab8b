// SPDX-License-Identifier: Apache-2.0
#include "base/table_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.hpp"

namespace schedmate {

namespace {

constexpr std::size_t longest_list = 256;
constexpr std::size_t longest_text = 1000;

using Kind = TomlValue::Kind;

}  // namespace

Result<void> TableReader::read(std::string_view toml, const std::string& file, const Read& read) {
  const auto value = parse_toml(toml, file);
  if (!value) return tl::unexpected(value.error());
  std::optional<Error> error;
  TableReader(*value, file, error).within(*value, read);
  if (error) return tl::unexpected(*error);
  return {};
}

void TableReader::within(const TomlValue& table, const Read& read) {
  if (error_) return;
  // An unknown key says more than the missing one that it was meant to be, so it is reported first.
  std::optional<Error> inner;
  TableReader reader(table, file_, inner);
  read(reader);
  reader.check_keys();
  error_ = std::move(inner);
}

void TableReader::check_keys() {
  for (std::size_t i = 0; i < table_.keys.size(); ++i) {
    if (std::ranges::find(known_, table_.keys[i]) != known_.end()) continue;
    error_.reset();
    const std::vector<std::string_view> names(known_.begin(), known_.end());
    fail_at(table_.key_places[i], unknown_name("key", table_.keys[i], names));
    return;
  }
}

std::string TableReader::where(TomlPlace place) const {
  return fmt::format("{}:{}:{}", file_, std::max<std::size_t>(1, place.line),
                     std::max<std::size_t>(1, place.column));
}

void TableReader::fail_at(TomlPlace place, std::string_view why) {
  if (!error_) error_ = Error{ErrorCode::invalid, fmt::format("{}: {}", where(place), why)};
}

TomlPlace TableReader::place(std::string_view key) const {
  const TomlValue* value = find(key);
  return value == nullptr ? table_.place : value->place;
}

void TableReader::refuse(std::string_view key, std::string_view why) { fail_at(place(key), why); }

void TableReader::refuse(std::string_view why) { fail_at(table_.place, why); }

const TomlValue* TableReader::find(std::string_view key) const {
  const auto at = std::ranges::find(table_.keys, key);
  if (at == table_.keys.end()) return nullptr;
  return &table_.items[static_cast<std::size_t>(at - table_.keys.begin())];
}

const TomlValue* TableReader::maybe(std::string_view key) {
  known_.emplace_back(key);
  return find(key);
}

const TomlValue* TableReader::need(std::string_view key) {
  const TomlValue* value = maybe(key);
  if (value == nullptr) fail_at(table_.place, fmt::format("{} is missing here", key));
  return value;
}

bool TableReader::take_text(const TomlValue& value, std::string_view key, std::string& out) {
  const bool printable = std::ranges::none_of(value.text, [](char c) { return c >= 0 && c < ' '; });
  if (value.kind != Kind::text || value.text.empty() || value.text.size() > longest_text ||
      !printable) {
    fail_at(value.place, fmt::format("{} must be a quoted string of one line and at most {} bytes",
                                     key, longest_text));
    return false;
  }
  out = value.text;
  return true;
}

bool TableReader::is_number(const TomlValue& value, std::string_view key, Bounds bounds) {
  const bool fits = (value.kind == Kind::real || value.kind == Kind::whole) &&
                    value.number >= bounds.low && value.number <= bounds.high;
  if (!fits)
    fail_at(value.place,
            fmt::format("{} must be a number from {} to {}", key, bounds.low, bounds.high));
  return fits;
}

bool TableReader::is_whole(const TomlValue& value, std::string_view key, Bounds bounds) {
  const bool fits =
      value.kind == Kind::whole && value.number >= bounds.low && value.number <= bounds.high;
  if (!fits) {
    fail_at(value.place,
            fmt::format("{} must be a whole number from {} to {}", key, bounds.low, bounds.high));
  }
  return fits;
}

bool TableReader::is_list(const TomlValue& value, std::string_view key) {
  const bool fits =
      value.kind == Kind::list && !value.items.empty() && value.items.size() <= longest_list;
  if (!fits)
    fail_at(value.place,
            fmt::format("{} must be a list of 1 to {} values in [ ]", key, longest_list));
  return fits;
}

void TableReader::text(std::string_view key, std::string& out) {
  if (const TomlValue* value = need(key)) take_text(*value, key, out);
}

bool TableReader::maybe_text(std::string_view key, std::string& out) {
  const TomlValue* value = maybe(key);
  return value != nullptr && take_text(*value, key, out);
}

bool TableReader::maybe_flag(std::string_view key, bool& out) {
  const TomlValue* value = maybe(key);
  if (value == nullptr) return false;
  if (value->kind != Kind::flag) {
    fail_at(value->place, fmt::format("{} must be true or false", key));
    return false;
  }
  out = value->flag;
  return true;
}

void TableReader::number(std::string_view key, double& out, Bounds bounds) {
  const TomlValue* value = need(key);
  if (value != nullptr && is_number(*value, key, bounds)) out = value->number;
}

void TableReader::whole(std::string_view key, int& out, Bounds bounds) {
  const TomlValue* value = need(key);
  if (value != nullptr && is_whole(*value, key, bounds)) out = static_cast<int>(value->whole);
}

bool TableReader::maybe_number(std::string_view key, double& out, Bounds bounds) {
  const TomlValue* value = maybe(key);
  if (value == nullptr || !is_number(*value, key, bounds)) return false;
  out = value->number;
  return true;
}

bool TableReader::maybe_whole(std::string_view key, std::int64_t& out, Bounds bounds) {
  const TomlValue* value = maybe(key);
  if (value == nullptr || !is_whole(*value, key, bounds)) return false;
  out = value->whole;
  return true;
}

bool TableReader::maybe_whole(std::string_view key, int& out, Bounds bounds) {
  std::int64_t whole = out;
  const bool given = maybe_whole(key, whole, bounds);
  out = static_cast<int>(whole);
  return given;
}

bool TableReader::take_numbers(const TomlValue& list, std::string_view key,
                               std::vector<double>& out, Bounds bounds) {
  if (!is_list(list, key)) return false;
  out.clear();
  for (const TomlValue& each : list.items)
    if (is_number(each, key, bounds)) out.push_back(each.number);
  return out.size() == list.items.size();
}

void TableReader::numbers(std::string_view key, std::vector<double>& out, Bounds bounds) {
  if (const TomlValue* list = need(key)) take_numbers(*list, key, out, bounds);
}

bool TableReader::maybe_numbers(std::string_view key, std::vector<double>& out, Bounds bounds) {
  const TomlValue* list = maybe(key);
  return list != nullptr && take_numbers(*list, key, out, bounds);
}

void TableReader::rows(std::string_view key, std::vector<std::vector<double>>& out,
                       std::size_t width, Bounds bounds) {
  const TomlValue* list = need(key);
  if (list == nullptr || !is_list(*list, key)) return;
  out.clear();
  for (const TomlValue& each : list->items) {
    take_numbers(each, key, out.emplace_back(), bounds);
    if (out.back().size() != width)
      fail_at(each.place, fmt::format("{} must be a list of lists of {} numbers", key, width));
  }
}

bool TableReader::maybe_rows(std::string_view key, std::vector<std::vector<double>>& out,
                             std::size_t width, Bounds bounds) {
  if (maybe(key) == nullptr) return false;
  rows(key, out, width, bounds);
  return !error_;
}

void TableReader::wholes(std::string_view key, std::vector<int>& out, Bounds bounds) {
  const TomlValue* list = need(key);
  if (list == nullptr || !is_list(*list, key)) return;
  out.clear();
  for (const TomlValue& each : list->items)
    if (is_whole(each, key, bounds)) out.push_back(static_cast<int>(each.whole));
}

bool TableReader::take_texts(const TomlValue& list, std::string_view key,
                             std::vector<std::string>& out) {
  if (!is_list(list, key)) return false;
  out.clear();
  return std::ranges::all_of(
      list.items, [&](const TomlValue& each) { return take_text(each, key, out.emplace_back()); });
}

void TableReader::texts(std::string_view key, std::vector<std::string>& out) {
  if (const TomlValue* list = need(key)) take_texts(*list, key, out);
}

bool TableReader::maybe_texts(std::string_view key, std::vector<std::string>& out) {
  const TomlValue* list = maybe(key);
  return list != nullptr && take_texts(*list, key, out);
}

bool TableReader::take_plain(const TomlValue& value, std::string_view key,
                             std::vector<std::string>& out) {
  auto text = plain_text(value);
  if (!text) {
    fail_at(value.place, fmt::format("{}: must be a single value", key));
    return false;
  }
  out.push_back(*std::move(text));
  return true;
}

bool TableReader::maybe_plain(std::string_view key, std::vector<std::string>& out) {
  const TomlValue* value = maybe(key);
  if (value == nullptr) return false;
  out.clear();
  if (value->kind != Kind::list) return take_plain(*value, key, out);
  return std::ranges::all_of(value->items,
                             [&](const TomlValue& each) { return take_plain(each, key, out); });
}

bool TableReader::take_table(const TomlValue& value, std::string_view key, const Read& read) {
  if (value.kind != Kind::table) {
    fail_at(value.place, fmt::format("{0} must be a table, headed [{0}]", key));
    return false;
  }
  within(value, read);
  return !error_;
}

void TableReader::table(std::string_view key, const Read& read) {
  if (const TomlValue* value = need(key)) take_table(*value, key, read);
}

bool TableReader::maybe_table(std::string_view key, const Read& read) {
  const TomlValue* value = maybe(key);
  return value != nullptr && take_table(*value, key, read);
}

void TableReader::tables(std::string_view key, const Read& read) {
  if (const TomlValue* list = need(key)) take_tables(*list, key, read);
}

bool TableReader::maybe_tables(std::string_view key, const Read& read) {
  const TomlValue* list = maybe(key);
  return list != nullptr && take_tables(*list, key, read);
}

bool TableReader::take_tables(const TomlValue& list, std::string_view key, const Read& read) {
  const auto is_table = [](const TomlValue& each) { return each.kind == Kind::table; };
  if (list.kind != Kind::list || list.items.empty() || !std::ranges::all_of(list.items, is_table)) {
    fail_at(list.place, fmt::format("{0} must be a list of tables, each headed [[{0}]]", key));
    return false;
  }
  for (const TomlValue& each : list.items) within(each, read);
  return !error_;
}

void TableReader::entries(const Use& use) {
  known_.insert(known_.end(), table_.keys.begin(), table_.keys.end());  // `use` judges them
  entries_of(table_, "", use);
}

namespace {

/// Texts without commas, with commas between; nothing for other lists.
std::optional<std::string> joined(const TomlValue& list) {
  std::string all;
  for (const TomlValue& item : list.items) {
    const bool is_plain = item.kind == TomlValue::Kind::text && !item.text.contains(',');
    if (!is_plain) return std::nullopt;
    all += (all.empty() ? "" : ",") + item.text;
  }
  return all;
}

}  // namespace

void TableReader::plain_entries(
    const std::function<Result<void>(const std::string&, const std::string&)>& use) {
  entries([&](const std::string& key, const TomlValue& value) -> Result<void> {
    auto text = plain_text(value);
    if (value.kind == Kind::list) text = joined(value);
    if (!text) return fail(ErrorCode::invalid, key + ": must be a value or a list of texts");
    return use(key, *text);
  });
}

void TableReader::entries_of(const TomlValue& table, const std::string& prefix, const Use& use) {
  for (std::size_t i = 0; i < table.keys.size() && !error_; ++i) {
    const TomlValue& value = table.items[i];
    const std::string key = prefix + table.keys[i];
    if (value.kind == Kind::table) {
      entries_of(value, key + ".", use);
    } else if (const auto done = use(key, value); !done) {
      fail_at(value.place, done.error().message);
    }
  }
}

}  // namespace schedmate
