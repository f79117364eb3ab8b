// SPDX-License-Identifier: Apache-2.0
#include "facts/keys.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>

namespace schedmate {
namespace {

Result<void> add_row(const toml::table& row, int trust,
                     std::multimap<std::string, KeyMeaning, std::less<>>& out) {
  const auto field = row["field"].value<std::string>();
  const auto meaning = row["meaning"].value<std::string>();
  const toml::array* names = row["names"].as_array();
  if (!field || !meaning || names == nullptr) {
    return fail(ErrorCode::invalid,
                fmt::format("keys.toml:{}: a [[key]] needs field, meaning, names",
                            row.source().begin.line));
  }
  int place = 0;
  for (const auto& name : *names) {
    if (const auto text = name.value<std::string>())
      out.emplace(normal_key(*text), KeyMeaning{*field, *meaning, trust * 1000 + place++});
  }
  return {};
}

}  // namespace

std::string normal_key(std::string_view key) {
  while (key.starts_with('-')) key.remove_prefix(1);
  std::string out;
  for (const char c : key) {
    if (c >= 'A' && c <= 'Z') {
      out += static_cast<char>(c - 'A' + 'a');
    } else {
      out += c == '-' ? '_' : c;
    }
  }
  return out;
}

Result<Keys> Keys::parse(std::string_view toml) {
  toml::table table;
  try {
    table = ::toml::parse(toml, std::string_view("keys.toml"));
  } catch (const toml::parse_error& error) {
    return fail(ErrorCode::invalid,
                fmt::format("keys.toml:{}: {}", error.source().begin.line, error.description()));
  }
  Keys keys;
  int trust = 0;
  if (const toml::array* rows = table["key"].as_array()) {
    for (const auto& row : *rows) {
      if (!row.is_table()) continue;
      if (auto added = add_row(*row.as_table(), trust++, keys.by_name_); !added)
        return tl::unexpected(added.error());
    }
  }
  return keys;
}

std::vector<KeyMeaning> Keys::find(std::string_view key) const {
  std::vector<KeyMeaning> found;
  for (std::string_view rest = key;;) {
    const auto [begin, end] = by_name_.equal_range(rest);
    for (auto at = begin; at != end; ++at) found.push_back(at->second);
    const auto dot = rest.find('.');
    if (!found.empty() || dot == std::string_view::npos) return found;
    rest.remove_prefix(dot + 1);
  }
}

}  // namespace schedmate
