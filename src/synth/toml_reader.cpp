// SPDX-License-Identifier: Apache-2.0
#include "synth/toml_reader.hpp"

#include <fmt/format.h>

#include <cmath>

#include "base/text.hpp"

namespace schedmate {

const toml::node* TomlReader::find(std::string_view key) {
  asked_.emplace(key);
  return table_.get(key);
}

void TomlReader::complain(std::string_view key, std::string_view why) {
  if (error_) return;
  const toml::node* const node = table_.get(key);
  const auto place = (node == nullptr ? table_ : *node).source().begin;
  error_ = Error{ErrorCode::invalid,
                 fmt::format("{}:{}:{}: {} {}", file_, place.line, place.column, key, why)};
}

double TomlReader::number(std::string_view key, Bounds bounds) {
  const toml::node* const node = find(key);
  const auto value = node == nullptr ? std::nullopt : node->value<double>();
  if (!value || !(*value >= bounds.low && *value <= bounds.high)) {
    complain(key, fmt::format("must be a number from {} to {}", bounds.low, bounds.high));
    return bounds.low;
  }
  return *value;
}

double TomlReader::number_or(std::string_view key, double otherwise, Bounds bounds) {
  return find(key) == nullptr ? otherwise : number(key, bounds);
}

std::string TomlReader::text(std::string_view key) {
  const toml::node* const node = find(key);
  if (node == nullptr || !node->is_string() || node->as_string()->get().empty()) {
    complain(key, "must be a text in quotes");
    return {};
  }
  return node->as_string()->get();
}

std::string TomlReader::text_or(std::string_view key, std::string otherwise) {
  return find(key) == nullptr ? std::move(otherwise) : text(key);
}

bool TomlReader::flag_or(std::string_view key, bool otherwise) {
  const toml::node* const node = find(key);
  if (node == nullptr) return otherwise;
  if (!node->is_boolean()) complain(key, "must be true or false");
  return node->value_or(otherwise);
}

std::vector<double> TomlReader::list(std::string_view key, const toml::node& node,
                                     std::size_t count) {
  std::vector<double> values;
  if (node.is_array()) {
    for (const toml::node& each : *node.as_array()) {
      const auto value = each.value<double>();
      if (!value || !std::isfinite(*value) || *value < 0) break;
      values.push_back(*value);
    }
    if (values.size() == node.as_array()->size() && !values.empty() &&
        (count == 0 || values.size() == count)) {
      return values;
    }
  }
  complain(key, count == 0 ? "must be a list of numbers, none below 0"
                           : fmt::format("must list {} numbers, none below 0", count));
  return std::vector<double>(std::max<std::size_t>(count, 1), 1.0);
}

std::vector<double> TomlReader::numbers(std::string_view key, std::size_t count) {
  const toml::node* const node = find(key);
  return list(key, node == nullptr ? table_ : *node, count);
}

std::vector<std::vector<double>> TomlReader::rows(std::string_view key, std::size_t width) {
  std::vector<std::vector<double>> result;
  const toml::node* const node = find(key);
  if (node == nullptr || !node->is_array() || node->as_array()->empty()) {
    complain(key, fmt::format("must be a list of lists of {} numbers", width));
    return result;
  }
  for (const toml::node& each : *node->as_array()) result.push_back(list(key, each, width));
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

std::vector<const toml::table*> TomlReader::tables(std::string_view key) {
  std::vector<const toml::table*> result;
  const toml::node* const node = find(key);
  if (node == nullptr) return result;
  if (!node->is_array_of_tables()) {
    complain(key, fmt::format("must be a list of tables, each headed [[{}]]", key));
    return result;
  }
  for (const toml::node& each : *node->as_array()) result.push_back(each.as_table());
  return result;
}

Result<void> TomlReader::done() const {
  if (error_) return tl::unexpected(*error_);
  const std::vector<std::string_view> known(asked_.begin(), asked_.end());
  for (const auto& [key, node] : table_) {
    if (asked_.contains(key.str())) continue;
    return fail(ErrorCode::invalid,
                fmt::format("{}:{}:{}: {}", file_, key.source().begin.line,
                            key.source().begin.column, unknown_name("key", key.str(), known)));
  }
  return {};
}

}  // namespace schedmate
