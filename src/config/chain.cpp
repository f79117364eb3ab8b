// SPDX-License-Identifier: Apache-2.0

/// Configs that name the ones they stand on.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "config/config.hpp"
#include "config/scalars.hpp"

namespace schedmate::config {
namespace {

constexpr int longest_chain = 20;
constexpr std::size_t most_files = 200;

/// What projects call it. A key counts only where it holds paths of configs, since "base" and
/// "include" mean other things too.
constexpr std::array<std::string_view, 17> base_keys = {
    "_base_",      "_BASE_",   "__BASE__", "__base__", "BASE",         "_base",
    "base_config", "base_cfg", "includes", "include",  "BASE_CONFIG",  "inherit_from",
    "extends",     "inherits", "base",     "_parent_", "defaults_from"};

bool is_config_path(const code::Value& value) {
  return value.text() != nullptr && (value.text()->empty() || config_format(*value.text()));
}

/// The paths below a key; nothing when it holds something else.
std::optional<code::List> paths_in(const code::Value& value) {
  if (is_config_path(value)) return code::List{value};
  const code::List* items = value.items();
  if (items == nullptr || items->empty() || !std::ranges::all_of(*items, is_config_path))
    return std::nullopt;
  return *items;
}

bool is_false(const code::Value* value) { return value != nullptr && value->truth() == false; }
bool is_true(const code::Value* value) { return value != nullptr && value->truth() == true; }

// A dict of the file above may say that it stands alone.
code::Value laid_over(const code::Value& below, const code::Value& above) {
  const code::Dict* over = above.entries();
  if (over == nullptr) return above;
  const bool alone = is_false(over->find("_inherited_")) || is_true(over->find("_delete_"));
  const code::Dict* under = alone ? nullptr : below.entries();
  code::Value result = code::Value::dict(under != nullptr ? *under : code::Dict(), above.place);
  for (const auto& [key, value] : over->all()) {
    if (key == "_inherited_" || key == "_delete_") continue;
    const code::Value* old = result.entries()->find(key);
    result.entries()->set(key, laid_over(old != nullptr ? *old : code::Value(), value));
  }
  return result;
}

class ChainReader {
 public:
  explicit ChainReader(tree::Tree& tree) : tree_(tree) {}

  Result<code::Value> read(const std::string& path, int depth) {
    auto own = read_config(tree_, path);
    if (!own || own->entries() == nullptr) return own;
    ++files;
    open_.insert(path);
    code::Value below = code::Value::dict({}, own->place);
    for (const auto key : base_keys) {
      const code::Value* named = own->entries()->find(key);
      const auto paths = named == nullptr ? std::nullopt : paths_in(*named);
      if (!paths) continue;
      for (const code::Value& base : *paths) below = laid_over(below, read_base(path, base, depth));
      own->entries()->erase(key);
    }
    open_.erase(path);
    return laid_over(below, *own);
  }

  std::size_t files = 0;

 private:
  code::Value read_base(const std::string& path, const code::Value& base, int depth) {
    if (base.text()->empty()) return code::Value::dict({});
    const auto found = find(path, *base.text());
    if (!found) return skip(base, "is not in the tree");
    if (open_.contains(*found)) return skip(base, "leads back to a file that is based on it");
    if (depth >= longest_chain || files >= most_files) return skip(base, "is one base too many");
    auto value = read(*found, depth + 1);
    if (!value) return skip(base, value.error().message);
    return value->entries() != nullptr ? *std::move(value) : code::Value::dict({});
  }

  std::optional<std::string> find(std::string_view path, std::string_view base) {
    const auto slash = path.rfind('/');
    const auto folder =
        slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
    for (const auto from : {folder, std::string_view()}) {
      const auto joined = tree::join_path(from, base);
      if (joined && tree_.is_file(*joined)) return *joined;
    }
    return std::nullopt;
  }

  code::Value skip(const code::Value& base, std::string_view why) {
    tree_.degrade(fmt::format("{}:{}: the base config '{}' {}", base.place->file, base.place->line,
                              *base.text(), why));
    return code::Value::dict({});
  }

  tree::Tree& tree_;
  std::set<std::string> open_;
};

}  // namespace
}  // namespace schedmate::config

namespace schedmate::config {

Result<code::Value> read_config_chain(tree::Tree& tree, std::string_view path) {
  config::ChainReader reader(tree);
  auto value = reader.read(std::string(path), 0);
  if (value && reader.files > 1) mark_composed(*value);
  return value;
}

}  // namespace schedmate::config
