// SPDX-License-Identifier: Apache-2.0
#include "facts/keys.hpp"

#include "base/table_reader.hpp"

namespace schedmate::facts {

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
  Keys keys;
  int trust = 0;
  const auto done = TableReader::read(toml, "keys.toml", [&](TableReader& file) {
    file.maybe_tables("key", [&](TableReader& row) {
      KeyMeaning meaning;
      row.text("field", meaning.field);
      row.text("meaning", meaning.meaning);
      std::vector<std::string> names;
      row.texts("names", names);
      meaning.trust = 1000 * trust++;
      for (const std::string& name : names) {
        keys.by_name_.emplace(normal_key(name), meaning);
        ++meaning.trust;
      }
    });
  });
  if (!done) return tl::unexpected(done.error());
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

}  // namespace schedmate::facts
