// SPDX-License-Identifier: Apache-2.0
#include <toml++/toml.h>

#include <algorithm>
#include <sstream>

#include "base/toml_value.hpp"
#include "config/places.hpp"
#include "config/readers.hpp"
#include "config/scalars.hpp"

namespace schedmate::config {
namespace {

std::string shown(const toml::node& node) {
  std::ostringstream out;
  if (const auto* date = node.as_date()) out << **date;
  if (const auto* time = node.as_time()) out << **time;
  if (const auto* both = node.as_date_time()) out << **both;
  return out.str();
}

// toml++ keeps the keys of a table sorted; the lines show how they were written.
std::vector<std::pair<std::string_view, const toml::node*>> in_order(const toml::table& table) {
  std::vector<std::pair<std::string_view, const toml::node*>> entries;
  for (const auto& [key, node] : table) entries.emplace_back(key.str(), &node);
  std::ranges::stable_sort(entries, {}, [](const auto& entry) {
    const auto begin = entry.second->source().begin;
    return std::pair(begin.line, begin.column);
  });
  return entries;
}

Value convert(const toml::node& node, Places& places) {
  const auto begin = node.source().begin;
  auto place = places.at(static_cast<int>(begin.line), begin.column);
  if (const auto* table = node.as_table()) {
    Dict entries;
    for (const auto& [key, child] : in_order(*table)) entries.set(key, convert(*child, places));
    return Value::dict(std::move(entries), std::move(place));
  }
  if (const auto* array = node.as_array()) {
    List items;
    for (const auto& child : *array) items.push_back(convert(child, places));
    return Value::list(std::move(items), std::move(place));
  }
  if (const auto* text = node.as_string()) return {text->get(), std::move(place)};
  if (const auto* whole = node.as_integer()) return {whole->get(), std::move(place)};
  if (const auto* real = node.as_floating_point()) return {real->get(), std::move(place)};
  if (const auto* flag = node.as_boolean()) return {flag->get(), std::move(place)};
  return {shown(node), std::move(place)};
}

}  // namespace

Result<Value> read_toml(const ConfigText& config) {
  const auto text = without_bom(config.text);
  if (const auto line = line_of_deep_key(text, most_nesting))
    return fail_at(config.file, static_cast<int>(*line), "nested more than 200 levels deep");
  Places places(text, config.file);
  try {
    return convert(toml::parse(text), places);
  } catch (const toml::parse_error& error) {
    const auto line = static_cast<int>(error.source().begin.line);
    return fail_at(config.file, line, error.description());
  }
}

}  // namespace schedmate::config
