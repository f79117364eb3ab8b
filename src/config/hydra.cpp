// SPDX-License-Identifier: Apache-2.0
#include "config/hydra.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "config/scalars.hpp"

namespace schedmate::config {
namespace {

constexpr std::size_t most_variants = 16;  ///< of swept groups that are composed one by one

bool is_missing(const Value& value) { return value.text() != nullptr && *value.text() == "???"; }

// As OmegaConf merges: "???" gives way to what is there.
void lay_over(Value& below, const Value& above) {
  const Dict* over = above.entries();
  Dict* under = below.entries();
  if (over == nullptr || under == nullptr) {
    below = above;
    return;
  }
  for (const auto& [key, value] : over->all()) {
    Value* old = under->find(key);
    if (old == nullptr) {
      under->set(key, value);
    } else if (!is_missing(value)) {
      lay_over(*old, value);
    }
  }
}

Value in_package(Value content, std::string_view package) {
  if (package.empty()) return content;
  Value root = Value::dict({}, content.place);
  set_path(root, package, std::move(content));
  return root;
}

void forget_missing(Value& value) {
  if (is_missing(value)) value.data = Unknown{};
  if (List* items = value.items())
    for (Value& item : *items) forget_missing(item);
  if (const Dict* dict = value.entries())
    for (const auto& entry : dict->all()) forget_missing(*value.entries()->find(entry.key));
}

bool asks_for_old_hydra(std::string_view line) {
  const auto at = std::min(line.find("hydra-core"), line.find("hydra_core"));
  if (at == std::string_view::npos || trim(line).starts_with('#')) return false;
  std::string version;
  for (const char c : line.substr(at + std::string_view("hydra-core").size()))
    if (c != ' ') version += c;
  for (const auto* exact : {"==1.0", "~=1.0", "=1.0", "==0.", "~=0."})
    if (version.starts_with(exact)) return true;
  return version.contains("<1.1") || version.contains("<=1.0") || version.contains("<1.0");
}

/// The tree asks for a hydra-core before 1.1.
bool pins_old_hydra(tree::Tree& tree) {
  for (const auto* file : {"requirements.txt", "setup.py", "pyproject.toml", "environment.yml"}) {
    if (!tree.is_file(file)) continue;
    const auto text = tree.read(file);
    if (text && std::ranges::any_of(split((*text)->text, '\n'), asks_for_old_hydra)) return true;
  }
  return false;
}

/// The words of a request, sorted by what they change.
struct Words {
  Choices choices;
  std::vector<Override> values;
  std::vector<Override> swept_groups;
};

std::string group_name(std::string_view key) { return std::string(key.substr(0, key.find('@'))); }

Words sort_words(const SearchPath& path, const std::vector<Override>& overrides) {
  Words words;
  for (const Override& each : overrides) {
    if (each.key.contains('.') && !each.key.contains('@')) {
      words.values.push_back(each);
      continue;
    }
    const bool is_group = path.has_group(group_name(each.key)) || each.key.starts_with("hydra/");
    if (!is_group) {
      words.values.push_back(each);
    } else if (each.kind == Override::Kind::remove) {
      words.choices.removed[each.key] = each.text;
    } else if (sweep_options(each.text)) {
      words.swept_groups.push_back(each);
    } else {
      Default entry;
      entry.is_group = true;
      entry.place = each.place;
      read_default_key(entry, each.key);
      const Value option = read_override(each.text, Dialect::hydra, each.place);
      if (const List* several = option.items()) {
        for (const Value& one : *several) entry.options.push_back(*one.text());
      } else if (!option.is_none()) {
        entry.options.push_back(option.text() != nullptr ? *option.text() : each.text);
      }
      if (each.kind == Override::Kind::add) words.choices.added.push_back(entry);
      if (each.kind == Override::Kind::change) words.choices.changed.emplace(each.key, entry);
    }
  }
  return words;
}

Value swept(const std::vector<std::string>& options, const PlacePtr& place) {
  auto may_be = std::make_shared<List>();
  for (const auto& option : options)
    may_be->push_back(read_override(option, Dialect::hydra, place));
  return Value(Unknown{options.empty() ? nullptr : may_be}, place);
}

// Only `+key=value` may add to a config. What lies behind a reference is not known yet.
bool is_new(const Value& root, const Override& change) {
  if (change.kind != Override::Kind::change || change.key.starts_with("hydra.")) return false;
  const Value* at = &root;
  for (const auto key : split(change.key, '.')) {
    if (at->entries() == nullptr) return false;
    const Value* next = at->entries()->find(key);
    if (next == nullptr) return !key.contains('[');
    at = next;
  }
  return false;
}

void set_value(Value& root, const Override& change) {
  if (change.kind == Override::Kind::remove) {
    const Value word(fmt::format("~{}", change.key), change.place);
    apply_dotlist(root, {&word, 1});
    return;
  }
  const auto parts = std::ranges::count(change.key, '.');
  if (change.key.empty() || parts > most_nesting) return;
  const auto options = sweep_options(change.text);
  Value value = options ? swept(*options, change.place)
                        : read_override(change.text, Dialect::hydra, change.place);
  const Value* old = find_path(root, change.key);
  if (old != nullptr && old->entries() != nullptr && value.entries() != nullptr)
    value = code::merged(*old, value);
  set_path(root, change.key, std::move(value));
}

/// What differs between variants becomes unknown with the values that it may have.
Value either(const Value& a, const Value& b) {
  const Dict* left = a.entries();
  const Dict* right = b.entries();
  if (left != nullptr && right != nullptr) {
    Dict both;
    for (const auto& [key, value] : left->all()) {
      const Value* other = right->find(key);
      both.set(key, other != nullptr ? either(value, *other) : value);
    }
    for (const auto& [key, value] : right->all())
      if (left->find(key) == nullptr) both.set(key, value);
    return Value::dict(std::move(both), a.place);
  }
  if (!a.is_unknown() && repr(a) == repr(b)) return a;
  auto may_be = std::make_shared<List>();
  if (const auto* open = std::get_if<Unknown>(&a.data)) {
    if (open->may_be) *may_be = *open->may_be;
  } else {
    may_be->push_back(a);
  }
  const auto is_same = [&](const Value& held) { return repr(held) == repr(b); };
  if (!b.is_unknown() && std::ranges::none_of(*may_be, is_same)) may_be->push_back(b);
  if (may_be->empty()) may_be.reset();
  return Value(Unknown{std::move(may_be)}, a.place);
}

class HydraComposer {
 public:
  HydraComposer(tree::Tree& tree, const HydraRequest& request)
      : tree_(tree), request_(request), path_{tree, {request.folder}, request.stored} {}

  Result<HydraConfig> compose() {
    auto overrides = read_overrides(request_.overrides);
    auto name = request_.name;
    if (name.ends_with(".yaml")) name.resize(name.size() - 5);
    if (const auto added = add_search_path(name, overrides); !added)
      return tl::unexpected(added.error());
    words_ = sort_words(path_, overrides);
    composition_ = {name, words_.choices, request_.before_1_1 || pins_old_hydra(tree_)};
    std::vector<Choices> variants{words_.choices};
    for (const Override& group : words_.swept_groups) vary(variants, group);
    std::optional<HydraConfig> all;
    for (const Choices& variant : variants) {
      auto one = compose_variant(variant);
      if (!one) return one;
      if (all) one->config = either(all->config, one->config);
      if (all)
        one->choices = *either(Value::dict(all->choices), Value::dict(one->choices)).entries();
      all = *std::move(one);
    }
    return *std::move(all);
  }

 private:
  Result<void> add_search_path(const std::string& name, const std::vector<Override>& overrides) {
    auto primary = path_.load(name);
    if (!primary) return tl::unexpected(primary.error());
    Value listed;
    if (const Value* own = find_path(primary->content, "hydra.searchpath")) listed = *own;
    for (const Override& each : overrides)
      if (each.key == "hydra.searchpath")
        listed = read_override(each.text, Dialect::hydra, each.place);
    if (const List* entries = listed.items())
      for (const Value& entry : *entries)
        if (entry.text() != nullptr) path_.add(*entry.text());
    return {};
  }

  static void vary(std::vector<Choices>& variants, const Override& group) {
    const auto options = sweep_options(group.text);
    std::vector<Choices> more;
    for (const Choices& variant : variants) {
      for (const auto& option : *options) {
        if (more.size() >= most_variants) break;
        Default entry;
        entry.is_group = true;
        entry.place = group.place;
        entry.options = {option};
        read_default_key(entry, group.key);
        Choices choices = variant;
        if (group.kind == Override::Kind::add) choices.added.push_back(entry);
        if (group.kind == Override::Kind::change)
          choices.changed.insert_or_assign(group.key, entry);
        more.push_back(std::move(choices));
      }
    }
    if (!more.empty()) variants = std::move(more);
  }

  Result<HydraConfig> compose_variant(const Choices& choices) {
    composition_.choices = choices;
    auto parts = compose_parts(path_, composition_);
    if (!parts) return tl::unexpected(parts.error());
    for (const auto& note : parts->notes) tree_.degrade(note);
    HydraConfig made;
    made.config = Value::dict({});
    for (Placed& part : parts->parts) {
      if (part.content.entries() == nullptr) continue;
      lay_over(made.config, in_package(std::move(part.content), part.package));
    }
    if (parts->parts.size() > 1) mark_composed(made.config);
    made.refusals = std::move(parts->refusals);
    const bool is_complete = parts->notes.empty() && made.refusals.empty();
    for (const Override& change : words_.values) {
      if (is_complete && is_new(made.config, change))
        made.refusals.push_back(fmt::format("'{}' is not in the config", change.key));
      set_value(made.config, change);
    }
    made.choices = std::move(parts->choices);
    finish(made);
    return made;
  }

  // Hydra's own settings decide how often the job runs and are not the job's.
  void finish(HydraConfig& made) {
    Value hydra;
    if (const Value* own = made.config.entries()->find("hydra")) hydra = *own;
    made.config.entries()->erase("hydra");
    const Value* mode = find_path(hydra, "mode");
    const bool sweeps = request_.multirun ||
                        (mode != nullptr && mode->text() != nullptr && *mode->text() == "MULTIRUN");
    if (sweeps) count_runs(made, hydra);
    interpolate(tree_, made.config, request_.environment);
    forget_missing(made.config);
  }

  void count_runs(HydraConfig& made, const Value& hydra) {
    std::int64_t product = 1;
    const auto multiply = [&](std::string_view text) {
      const auto options = sweep_options(text);
      const auto count = options ? static_cast<std::int64_t>(options->size()) : 1;
      if (product < 1'000'000) product *= std::max<std::int64_t>(count, 1);
    };
    for (const Override& each : words_.values) multiply(each.text);
    for (const Override& each : words_.swept_groups) multiply(each.text);
    const Value* params = find_path(hydra, "sweeper.params");
    if (params != nullptr && params->entries() != nullptr) {
      for (const auto& [key, value] : params->entries()->all()) {
        const auto is_same = [&](const Override& each) { return each.key == key; };
        if (value.text() == nullptr || std::ranges::any_of(words_.values, is_same)) continue;
        multiply(*value.text());
        set_value(made.config, {Override::Kind::change, key, *value.text(), true, value.place});
      }
    }
    made.runs = trials(made, hydra).value_or(product);
  }

  // Sweepers that search run a number of trials, however many options there are.
  static std::optional<std::int64_t> trials(const HydraConfig& made, const Value& hydra) {
    const Value* chosen = made.choices.find("hydra/sweeper");
    const Value* target = find_path(hydra, "sweeper._target_");
    std::string name;
    for (const Value* each : {chosen, target})
      if (each != nullptr && each->text() != nullptr) name += *each->text() + " ";
    struct Searcher {
      std::string_view name;
      std::string_view setting;
      std::int64_t fallback;  ///< of the plug-in
    };
    for (const auto& [searcher, setting, fallback] :
         {Searcher{"optuna", "sweeper.n_trials", 20},
          Searcher{"nevergrad", "sweeper.optim.budget", 80},
          Searcher{"ax", "sweeper.ax_config.max_trials", 10}}) {
      if (!name.contains(searcher)) continue;
      const Value* given = find_path(hydra, setting);
      return given != nullptr && given->integer() != nullptr ? *given->integer() : fallback;
    }
    return std::nullopt;
  }

  tree::Tree& tree_;
  const HydraRequest& request_;
  SearchPath path_;
  Words words_;
  CompositionRequest composition_;
};

}  // namespace

Result<HydraConfig> compose_hydra(tree::Tree& tree, const HydraRequest& request) {
  return HydraComposer(tree, request).compose();
}

}  // namespace schedmate::config
