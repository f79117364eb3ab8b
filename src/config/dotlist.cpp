// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "config/config.hpp"
#include "config/interpolation_text.hpp"
#include "config/scalars.hpp"

namespace schedmate::config {
namespace {

// "a[0].b" as "a.0.b"; "" when there is no key or more parts than a config is deep.
std::string dotted(std::string_view key) {
  std::string path;
  const auto parts = split_reference(key).keys;
  if (parts.size() > static_cast<std::size_t>(most_nesting)) return path;
  for (const auto& part : parts) path += (path.empty() ? "" : ".") + part;
  return path;
}

void erase_path(Value& root, std::string_view path) {
  const auto dot = path.rfind('.');
  const Value* holder = &root;
  if (dot != std::string_view::npos) holder = find_path(root, path.substr(0, dot));
  if (holder == nullptr || holder->entries() == nullptr) return;
  holder->entries()->erase(dot == std::string_view::npos ? path : path.substr(dot + 1));
}

}  // namespace

void apply_dotlist(Value& root, std::span<const Value> overrides) {
  for (const Value& override : overrides) {
    if (override.text() == nullptr) continue;
    const std::string_view word = *override.text();
    const auto equals = word.find('=');
    const auto key = trim(word.substr(0, equals));
    if (key.starts_with('~')) {
      erase_path(root, dotted(key.substr(1)));
      continue;
    }
    if (equals == std::string_view::npos) continue;
    const auto path = dotted(key.substr(std::min(key.find_first_not_of('+'), key.size())));
    if (path.empty()) continue;
    set_path(root, path, parse_scalar(word.substr(equals + 1), override.place));
  }
}

}  // namespace schedmate::config
