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

bool is_config_path(const Value& value) {
  return value.text() != nullptr && (value.text()->empty() || config_format(*value.text()));
}

/// The paths below a key; nothing when it holds something else.
std::optional<List> paths_in(const Value& value) {
  if (is_config_path(value)) return List{value};
  const List* items = value.items();
  if (items == nullptr || items->empty() || !std::ranges::all_of(*items, is_config_path))
    return std::nullopt;
  return *items;
}

bool is_false(const Value* value) { return value != nullptr && value->truth() == false; }
bool is_true(const Value* value) { return value != nullptr && value->truth() == true; }

// A dict of the file above may say that it stands alone.
Value laid_over(const Value& below, const Value& above) {
  const Dict* over = above.entries();
  if (over == nullptr) return above;
  const bool alone = is_false(over->find("_inherited_")) || is_true(over->find("_delete_"));
  const Dict* under = alone ? nullptr : below.entries();
  Value result = Value::dict(under != nullptr ? *under : Dict(), above.place);
  for (const auto& [key, value] : over->all()) {
    if (key == "_inherited_" || key == "_delete_") continue;
    const Value* old = result.entries()->find(key);
    result.entries()->set(key, laid_over(old != nullptr ? *old : Value(), value));
  }
  return result;
}

class ChainReader {
 public:
  explicit ChainReader(tree::Tree& tree) : tree_(tree) {}

  Result<Value> read(const std::string& path, int depth) {
    auto own = read_config(tree_, path);
    if (!own || own->entries() == nullptr) return own;
    ++files;
    open_.insert(path);
    Value below = Value::dict({}, own->place);
    for (const auto key : base_keys) {
      const Value* named = own->entries()->find(key);
      const auto paths = named == nullptr ? std::nullopt : paths_in(*named);
      if (!paths) continue;
      for (const Value& base : *paths) below = laid_over(below, read_base(path, base, depth));
      own->entries()->erase(key);
    }
    open_.erase(path);
    return laid_over(below, *own);
  }

  std::size_t files = 0;

 private:
  Value read_base(const std::string& path, const Value& base, int depth) {
    if (base.text()->empty()) return Value::dict({});
    const auto found = find(path, *base.text());
    if (!found) return skip(base, "is not in the tree");
    if (open_.contains(*found)) return skip(base, "leads back to a file that is based on it");
    if (depth >= longest_chain || files >= most_files) return skip(base, "is one base too many");
    auto value = read(*found, depth + 1);
    if (!value) return skip(base, value.error().message);
    return value->entries() != nullptr ? *std::move(value) : Value::dict({});
  }

  std::optional<std::string> find(std::string_view path, std::string_view base) {
    const auto slash = path.rfind('/');
    const auto folder =
        slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
    for (const auto from : {folder, std::string_view()}) {
      const auto joined = tree_.locate(from, base);
      if (joined && tree_.is_file(*joined)) return *joined;
    }
    return std::nullopt;
  }

  Value skip(const Value& base, std::string_view why) {
    tree_.degrade(fmt::format("{}:{}: the base config '{}' {}", base.place->file, base.place->line,
                              *base.text(), why));
    return Value::dict({});
  }

  tree::Tree& tree_;
  std::set<std::string> open_;
};

}  // namespace

Result<Value> read_config_chain(tree::Tree& tree, std::string_view path) {
  ChainReader reader(tree);
  auto value = reader.read(std::string(path), 0);
  if (value && reader.files > 1) mark_composed(*value);
  return value;
}

}  // namespace schedmate::config
