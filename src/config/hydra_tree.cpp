// SPDX-License-Identifier: Apache-2.0

/// The defaults lists of a primary config and of everything they name, in order of composition.

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "config/hydra.hpp"
#include "config/interpolation_text.hpp"

namespace schedmate::config {
namespace {

constexpr int deepest_list = 30;
constexpr int most_configs = 500;

/// What a defaults list stands in: the folder and the package of its config.
struct Parent {
  std::string folder;
  std::string package;
};

std::string dotted(std::string path) {
  std::ranges::replace(path, '/', '.');
  return path;
}

std::string joined(const std::string& above, char mark, const std::string& below) {
  if (above.empty() || below.empty()) return above.empty() ? below : above;
  return above + mark + below;
}

std::string without_slash(const std::string& path) {
  return path.starts_with('/') ? path.substr(1) : path;
}

std::string full_path(const Default& entry, const Parent& parent) {
  if (entry.group.starts_with('/')) return entry.group.substr(1);
  return joined(parent.folder, '/', entry.group);
}

// The group as Hydra names it: of a config entry, the folder of its path.
std::string group_of(const Default& entry, const std::string& path) {
  return entry.is_group ? path : tree::folder_of(path);
}

void replace_word(std::string& text, std::string_view word, const std::string& with) {
  if (const auto at = text.find(word); at != std::string::npos) text.replace(at, word.size(), with);
}

/// Where content goes: by @package, else by the file's header, else by its group.
std::string final_package(const Default& entry, const Parent& parent,
                          const std::optional<std::string>& header) {
  const auto group = group_of(entry, full_path(entry, parent));
  const auto written = without_slash(entry.group);
  std::string package = dotted(entry.is_group ? written : tree::folder_of(written));
  if (entry.package) {
    package = *entry.package == "_here_" ? "" : *entry.package;
    if (package.contains("_group_")) package = "_global_." + package;
  } else if (header && *header != "_group_") {
    package = "_global_." + *header;
  }
  replace_word(package, "_group_", dotted(group));
  replace_word(package, "_name_", entry.options.empty() ? "" : entry.options.front());
  package = joined(parent.package, '.', package);
  constexpr std::string_view global = "_global_";
  const auto at = package.rfind(global);
  if (at == std::string::npos) return package;
  return at + global.size() >= package.size() ? "" : package.substr(at + global.size() + 1);
}

std::string override_key(const Default& entry, const Parent& parent) {
  auto group = group_of(entry, full_path(entry, parent));
  const auto package = final_package(entry, parent, std::nullopt);
  if (package == dotted(group)) return group;
  return group + "@" + (package.empty() ? "_global_" : package);
}

class Composer {
 public:
  Composer(const SearchPath& path, const CompositionRequest& request)
      : path_(path), choices_(request.choices), before_1_1_(request.before_1_1) {}

  Result<Composition> compose(const std::string& name) {
    Default primary;
    primary.group = name;
    auto file = path_.load(name);
    if (!file) return tl::unexpected(file.error());
    const auto package = final_package(primary, {}, file->package);
    made_.parts = expand_file(*std::move(file), {tree::folder_of(name), package}, true);
    for (const auto& [key, changed] : choices_.changed)
      if (!key.starts_with("hydra/") && !used_.contains(key)) refuse("overridden", key);
    for (const auto& [key, option] : choices_.removed)
      if (!key.starts_with("hydra/") && !used_.contains(key)) refuse("removed", key);
    return std::move(made_);
  }

 private:
  using Parts = std::vector<Placed>;

  Parts expand(Default entry, const Parent& parent) {
    const auto path = full_path(entry, parent);
    if (!entry.is_group) return load(entry, path, parent);
    const auto key = key_of(entry, parent);
    used_.insert(key);
    const auto removed = choices_.removed.find(key);
    if (const auto changed = choices_.changed.find(key); changed != choices_.changed.end()) {
      entry.options = changed->second.options;
      entry.place = changed->second.place;
    }
    if (removed != choices_.removed.end() &&
        (removed->second.empty() || std::ranges::count(entry.options, removed->second) > 0))
      return {};
    choose(key, entry);
    if (entry.options.size() == 1) return load(entry, path + "/" + entry.options[0], parent);
    Parts parts;
    for (const auto& option : entry.options) {
      Default one = entry;
      one.is_group = false;
      one.group += "/" + option;
      auto more = load(one, full_path(one, parent), parent);
      std::ranges::move(more, std::back_inserter(parts));
    }
    return parts;
  }

  /// As later words name it: some releases (1.0, 1.1.0) take `task=x` for `task@_global_: y`.
  std::string key_of(const Default& entry, const Parent& parent) const {
    auto key = override_key(entry, parent);
    const auto group = key.substr(0, key.find('@'));
    const bool is_bare = key.ends_with("@_global_") && !choices_.changed.contains(key) &&
                         choices_.changed.contains(group);
    return is_bare ? group : key;
  }

  void refuse(std::string_view what, const std::string& key) {
    made_.refusals.push_back(
        fmt::format("the config group '{}' is {} but is in no defaults list", key, what));
  }

  void choose(const std::string& key, const Default& entry) {
    if (entry.options.empty()) {
      made_.choices.set(key, Value::none(entry.place));
    } else if (entry.options.size() == 1) {
      made_.choices.set(key, Value(entry.options[0], entry.place));
    } else {
      List all;
      for (const auto& option : entry.options) all.emplace_back(option, entry.place);
      made_.choices.set(key, Value::list(std::move(all), entry.place));
    }
  }

  Parts load(const Default& entry, const std::string& path, const Parent& parent) {
    if (path.ends_with("???")) {
      made_.notes.push_back(fmt::format("the config group '{}' must be chosen by the command",
                                        tree::folder_of(path)));
      return {};
    }
    if (depth_ >= deepest_list || ++loaded_ > most_configs) {
      made_.notes.push_back(fmt::format("the config '{}' is nested too deeply", path));
      return {};
    }
    auto file = path_.load(path);
    if (!file) {
      const bool is_of_hydra = path == "hydra" || path.starts_with("hydra/");
      const bool is_absent = file.error().code == ErrorCode::not_found;
      if (!is_absent) made_.notes.push_back(file.error().message);
      if (is_absent && !entry.is_optional && !is_of_hydra) {
        made_.notes.push_back(fmt::format(
            "the config '{}' is not a file (only the program knows a structured config)", path));
      }
      return {};
    }
    if (before_1_1_ && !file->package) file->package = "_global_";
    const auto package = final_package(entry, parent, file->package);
    // Of `model: lm/small` the folder is model, however deep the chosen config lies.
    return expand_file(*std::move(file), {group_of(entry, full_path(entry, parent)), package},
                       false);
  }

  // Without _self_ a config stands on top of its defaults.
  std::vector<Default> complete_list(const HydraFile& file, bool is_primary) const {
    std::vector<Default> list;
    if (file.defaults) list = *file.defaults;
    if (std::ranges::none_of(list, &Default::is_self)) {
      Default self;
      self.is_self = true;
      list.insert(is_primary && before_1_1_ ? list.begin() : list.end(), self);
    }
    if (is_primary) std::ranges::copy(choices_.added, std::back_inserter(list));
    return list;
  }

  // From the last entry to the first, as Hydra does: an experiment near the end of the list
  // decides what groups before it hold.
  Parts expand_file(HydraFile file, const Parent& here, bool is_primary) {
    const auto list = complete_list(file, is_primary);
    for (const Default& entry : list) {
      if (!entry.is_override) continue;
      const auto key = override_key(entry, here);
      choices_.changed.emplace(key, entry);
      if (key.starts_with("hydra/") && made_.choices.find(key) == nullptr) choose(key, entry);
    }
    ++depth_;
    std::vector<Parts> children(list.size());
    std::vector<std::size_t> deferred;
    for (auto i = list.size(); i-- > 0;) {
      if (list[i].is_self) {
        children[i].push_back({std::move(file.content), here.package});
      } else if (is_interpolated(list[i], here)) {
        deferred.push_back(i);
      } else if (!list[i].is_override) {
        children[i] = expand(list[i], here);
      }
    }
    for (const auto i : deferred) children[i] = expand_interpolated(list[i], here, list);
    --depth_;
    Parts parts;
    for (auto& child : children) std::ranges::move(child, std::back_inserter(parts));
    return parts;
  }

  bool is_interpolated(const Default& entry, const Parent& parent) const {
    if (entry.is_override) return false;
    if (!entry.is_group) return has_expression(entry.group);
    if (choices_.changed.contains(key_of(entry, parent))) return false;
    return std::ranges::any_of(entry.options, has_expression);
  }

  // ${group} is the option chosen for it; ${defaults.0.group} is an older way to say so.
  Parts expand_interpolated(Default entry, const Parent& parent, const std::vector<Default>& list) {
    Dict known = made_.choices;
    List lines;
    for (const Default& each : list) {
      Dict line;
      const Value* chosen = made_.choices.find(override_key(each, parent));
      if (chosen != nullptr) line.set(each.group, *chosen);
      lines.push_back(Value::dict(std::move(line)));
    }
    known.set("defaults", Value::list(std::move(lines)));
    for (std::string* text : texts_of(entry)) {
      known.set("?", Value(*text, entry.place));
      Value root = Value::dict(known).deep_copy();
      interpolate(path_.tree, root);
      const auto* option = find_path(root, "?")->text();
      if (option == nullptr) return {};
      *text = *option;
    }
    return expand(std::move(entry), parent);
  }

  static std::vector<std::string*> texts_of(Default& entry) {
    std::vector<std::string*> texts;
    if (!entry.is_group) texts.push_back(&entry.group);
    for (auto& option : entry.options) texts.push_back(&option);
    return texts;
  }

  const SearchPath& path_;
  Choices choices_;
  bool before_1_1_;
  std::set<std::string> used_;  ///< keys of groups in defaults lists
  Composition made_;
  int depth_ = 0;
  int loaded_ = 0;
};

}  // namespace

Result<Composition> compose_parts(const SearchPath& path, const CompositionRequest& request) {
  return Composer(path, request).compose(request.name);
}

}  // namespace schedmate::config
