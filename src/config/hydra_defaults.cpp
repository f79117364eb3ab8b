// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "config/hydra.hpp"

namespace schedmate::config {
namespace {

bool take_word(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word) || text.size() == word.size() || text[word.size()] != ' ')
    return false;
  text = trim(text.substr(word.size()));
  return true;
}

// A number or boolean as option stands for the file of that name.
std::string option_text(const Value& value) {
  return value.text() != nullptr ? *value.text() : repr(value);
}

Default read_entry(std::string_view key, const Value* option) {
  Default entry;
  entry.is_group = option != nullptr;
  for (bool more = true; more;) {
    more = false;
    if (take_word(key, "override")) more = entry.is_override = true;
    if (take_word(key, "optional")) more = entry.is_optional = true;
  }
  read_default_key(entry, key);
  if (option == nullptr || option->is_none()) return entry;
  if (const List* several = option->items()) {
    for (const Value& each : *several) entry.options.push_back(option_text(each));
  } else {
    entry.options.push_back(option_text(*option));
  }
  return entry;
}

// Hydra stops at the first line that is neither empty nor a `# @key value`.
std::optional<std::string> package_header(std::string_view text) {
  for (const auto raw : split(text, '\n')) {
    auto line = trim(raw);
    if (line.empty()) continue;
    if (!line.starts_with('#')) break;
    line = trim(line.substr(1));
    if (!line.starts_with('@')) break;
    constexpr std::string_view keyword = "@package ";
    if (!line.starts_with(keyword)) continue;
    line = trim(line.substr(keyword.size()));
    return std::string(line.substr(0, line.find_first_of(" \t")));
  }
  return std::nullopt;
}

void take_defaults(HydraFile& file) {
  Dict* entries = file.content.entries();
  if (entries == nullptr) return;
  if (const Value* list = entries->find("defaults")) file.defaults = read_defaults(*list);
  entries->erase("defaults");
}

}  // namespace

void read_default_key(Default& entry, std::string_view key) {
  const auto at = key.find('@');
  entry.group = key.substr(0, at);
  if (at == std::string_view::npos) return;
  // In the older `group@from:to` the new package counts.
  const auto package = key.substr(at + 1);
  const auto colon = package.find(':');
  entry.package = package.substr(colon == std::string_view::npos ? 0 : colon + 1);
}

std::vector<Default> read_defaults(const Value& list) {
  std::vector<Default> entries;
  if (list.items() == nullptr) return entries;
  for (const Value& item : *list.items()) {
    if (const auto* text = item.text()) {
      entries.push_back(read_entry(trim(*text), nullptr));
      entries.back().is_self = *text == "_self_";
      entries.back().place = item.place;
    } else if (const Dict* dict = item.entries()) {
      for (const auto& [key, option] : dict->all()) {
        if (key == "optional" && option.boolean() != nullptr) continue;
        entries.push_back(read_entry(trim(key), &option));
        // Hydra 1.0 wrote `- group: x` and `optional: true` as one entry.
        const Value* optional = dict->find("optional");
        if (optional != nullptr && optional->boolean() != nullptr)
          entries.back().is_optional = *optional->boolean();
        entries.back().place = option.place;
      }
    }
  }
  return entries;
}

Result<HydraFile> SearchPath::load(const std::string& path) const {
  for (const auto& folder : folders) {
    const auto file = tree::join_path(folder, path.ends_with(".yaml") ? path : path + ".yaml");
    if (!file || !tree.is_file(*file)) continue;
    const auto text = tree.read(*file);
    if (!text) return tl::unexpected(text.error());
    auto content = parse_config((*text)->text, ConfigFormat::yaml, *file);
    note_encoding(tree, **text);
    if (!content) {
      tree.degrade(content.error().message);
      return tl::unexpected(content.error());
    }
    HydraFile loaded;
    loaded.package = package_header((*text)->text);
    loaded.content = *std::move(content);
    take_defaults(loaded);
    return loaded;
  }
  if (stored != nullptr) {
    if (const auto own = stored->find(path); own != stored->end()) {
      HydraFile loaded{own->second.content.deep_copy(), std::nullopt, own->second.package};
      take_defaults(loaded);
      return loaded;
    }
  }
  return fail(ErrorCode::not_found,
              fmt::format("the config '{}' is not in {}", path,
                          folders.empty() ? std::string("the tree") : folders.front()));
}

bool SearchPath::has_group(std::string_view group) const {
  for (const auto& folder : folders) {
    const auto joined = tree::join_path(folder, group);
    if (joined && tree.is_folder(*joined)) return true;
  }
  const std::string inside = std::string(group) + "/";
  return stored != nullptr && std::ranges::any_of(*stored, [&](const auto& one) {
           return one.first.starts_with(inside);
         });
}

void SearchPath::add(std::string_view entry) {
  std::string folder;
  if (entry.starts_with("file://")) {
    folder = entry.substr(7);
  } else if (entry.starts_with("pkg://")) {
    folder = entry.substr(6);
    for (char& c : folder)
      if (c == '.') c = '/';
  } else {
    folder = entry;
  }
  for (const std::string_view from : {"", "src"}) {
    const auto joined = tree.locate(from, folder);
    if (!joined || !tree.is_folder(*joined)) continue;
    folders.push_back(*joined);
    return;
  }
  tree.degrade(fmt::format("the config search path '{}' is not in the tree", entry));
}

}  // namespace schedmate::config
