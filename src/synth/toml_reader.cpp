// SPDX-License-Identifier: Apache-2.0
#include "synth/toml_reader.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/text.hpp"

namespace schedmate {

struct TomlTable {
  const toml::table& values;
};

namespace {

/// `count` numbers (0: at least one), none below 0.
std::optional<std::vector<double>> number_list(const toml::node* node, std::size_t count) {
  if (node == nullptr || !node->is_array() || node->as_array()->empty()) return std::nullopt;
  std::vector<double> values;
  for (const toml::node& each : *node->as_array()) {
    const auto value = each.value<double>();
    if (!value || !std::isfinite(*value) || *value < 0) return std::nullopt;
    values.push_back(*value);
  }
  if (count != 0 && values.size() != count) return std::nullopt;
  return values;
}

}  // namespace

TomlReader::TomlReader(std::shared_ptr<const TomlTable> table, std::string file)
    : table_(std::move(table)), file_(std::move(file)) {}

void TomlReader::complain(std::string_view key, std::string_view why) {
  if (error_) return;
  const toml::node* const node = table_->values.get(key);
  const auto place = (node == nullptr ? table_->values : *node).source().begin;
  error_ = Error{ErrorCode::invalid,
                 fmt::format("{}:{}:{}: {} {}", file_, place.line, place.column, key, why)};
}

double TomlReader::number(std::string_view key, KeyRange bounds) {
  asked_.emplace(key);
  const toml::node* const node = table_->values.get(key);
  const auto value = node == nullptr ? std::nullopt : node->value<double>();
  if (!value || !(*value >= bounds.low && *value <= bounds.high)) {
    complain(key, fmt::format("must be a number from {} to {}", bounds.low, bounds.high));
    return bounds.low;
  }
  return *value;
}

double TomlReader::number_or(std::string_view key, double otherwise, KeyRange bounds) {
  asked_.emplace(key);
  return !has(key) ? otherwise : number(key, bounds);
}

std::string TomlReader::text(std::string_view key) {
  asked_.emplace(key);
  const toml::node* const node = table_->values.get(key);
  if (node == nullptr || !node->is_string() || node->as_string()->get().empty()) {
    complain(key, "must be a text in quotes");
    return {};
  }
  return node->as_string()->get();
}

std::string TomlReader::text_or(std::string_view key, std::string otherwise) {
  asked_.emplace(key);
  return !has(key) ? std::move(otherwise) : text(key);
}

bool TomlReader::flag_or(std::string_view key, bool otherwise) {
  asked_.emplace(key);
  const toml::node* const node = table_->values.get(key);
  if (node == nullptr) return otherwise;
  if (!node->is_boolean()) complain(key, "must be true or false");
  return node->value_or(otherwise);
}

std::vector<double> TomlReader::numbers(std::string_view key, std::size_t count) {
  asked_.emplace(key);
  auto values = number_list(table_->values.get(key), count);
  if (values) return std::move(*values);
  complain(key, count == 0 ? "must be a list of numbers, none below 0"
                           : fmt::format("must list {} numbers, none below 0", count));
  return std::vector<double>(std::max<std::size_t>(count, 1), 1.0);
}

std::vector<std::vector<double>> TomlReader::rows(std::string_view key, std::size_t width) {
  std::vector<std::vector<double>> result;
  asked_.emplace(key);
  const toml::node* const node = table_->values.get(key);
  const bool lists = node != nullptr && node->is_array() && !node->as_array()->empty();
  if (lists) {
    for (const toml::node& each : *node->as_array()) {
      auto row = number_list(&each, width);
      if (row) result.push_back(std::move(*row));
    }
  }
  if (!lists || result.size() != node->as_array()->size())
    complain(key, fmt::format("must be a list of lists of {} numbers, none below 0", width));
  return result;
}

Cdf TomlReader::cdf(std::string_view key) {
  Cdf result;
  for (const auto& row : rows(key, 2)) {
    const CdfPoint last = result.empty() ? CdfPoint{-1, 0} : result.back();
    if (row[0] <= last.x || row[1] < last.percent || row[1] > 100) {
      complain(key, fmt::format("must rise: [{}, {}] after [{}, {}]", row[0], row[1], last.x,
                                last.percent));
    }
    result.push_back({row[0], row[1]});
  }
  if (!error_ && result.back().percent != 100) complain(key, "must end at 100 percent");
  return result;
}

bool TomlReader::has(std::string_view key) const { return table_->values.contains(key); }

void TomlReader::tables(std::string_view key, const std::function<void(TomlReader&)>& read) {
  asked_.emplace(key);
  const toml::node* const node = table_->values.get(key);
  if (node == nullptr) return;
  if (!node->is_array_of_tables()) {
    complain(key, fmt::format("must be a list of tables, each headed [[{}]]", key));
    return;
  }
  for (const toml::node& each : *node->as_array()) {
    TomlReader reader(std::make_shared<TomlTable>(*each.as_table()), file_);
    read(reader);
    if (const auto done = reader.done(); !done && !error_) error_ = done.error();
  }
}

Result<void> TomlReader::done() const {
  if (error_) return tl::unexpected(*error_);
  const std::vector<std::string_view> known(asked_.begin(), asked_.end());
  for (const auto& [key, node] : table_->values) {
    if (asked_.contains(key.str())) continue;
    return fail(ErrorCode::invalid,
                fmt::format("{}:{}:{}: {}", file_, key.source().begin.line,
                            key.source().begin.column, unknown_name("key", key.str(), known)));
  }
  return {};
}

Result<void> read_toml(std::string_view text, const std::string& file,
                       const std::function<void(TomlReader&)>& read) {
  try {
    const toml::table table = toml::parse(text, file);
    TomlReader reader(std::make_shared<TomlTable>(table), file);
    read(reader);
    return reader.done();
  } catch (const toml::parse_error& error) {
    return fail(ErrorCode::invalid, fmt::format("{}:{}:{}: {}", file, error.source().begin.line,
                                                error.source().begin.column, error.description()));
  }
}

}  // namespace schedmate
