// SPDX-License-Identifier: Apache-2.0

/// hyperpyyaml: a YAML whose tags refer to other values, include other files and build objects.

#include <fmt/format.h>

#include <set>

#include "base/text.hpp"
#include "config/arithmetic.hpp"
#include "config/config.hpp"
#include "config/interpolation_text.hpp"
#include "config/scalars.hpp"

namespace schedmate::config {
namespace {

constexpr int most_hyperpyyaml_references = 100;
constexpr int most_includes = 50;

/// "<a[b][c]>" as "a.b.c"; hyperpyyaml writes attributes as <a.b> too.
std::string dotted_key(std::string_view inside) {
  std::string path;
  for (const auto& key : split_reference(inside).keys) path += (path.empty() ? "" : ".") + key;
  return path;
}

std::string shown(const Value& value) {
  return value.text() != nullptr ? *value.text() : repr(value);
}

/// Does the text look like a sum rather than a path? Only then is it calculated.
bool is_arithmetic(std::string_view text) {
  return text.find_first_of("+-*/%(") != std::string_view::npos &&
         text.find_first_not_of("0123456789.eE_+-*/%() \t") == std::string_view::npos;
}

/// Shared by a file and all that it includes.
struct Budget {
  std::size_t copied = 0;
  int includes = 0;
};

class Resolver {
 public:
  Resolver(tree::Tree& tree, Value& root, Budget& budget)
      : tree_(tree), root_(root), budget_(budget) {}

  void resolve(Value& value, int depth) {
    if (depth > most_nesting) return;
    const Dict* dict = value.entries();
    const Value* tag = dict == nullptr ? nullptr : dict->find("!tag");
    if (tag != nullptr && tag->text() != nullptr) resolve_tag(value, std::string(*tag->text()));
    if (List* items = value.items())
      for (Value& item : *items) resolve(item, depth + 1);
    if (Dict* entries = value.entries())
      for (const auto& entry : entries->all()) resolve(*entries->find(entry.key), depth + 1);
  }

 private:
  void resolve_tag(Value& value, const std::string& tag) {
    const Value* held = value.entries()->find("!value");
    if (tag == "!PLACEHOLDER") {
      note(value.place, "a placeholder that the command must fill");
      value = Value({}, value.place);
    } else if (tag.starts_with("!include:")) {
      include(value, tag.substr(std::string_view("!include:").size()));
    } else if (held == nullptr) {
      return;
    } else if (tag == "!ref" || tag == "!copy") {
      refer(value, shown(*held));
    } else if (tag == "!tuple" || tag == "!list") {
      value = as_list(*held);
    }
  }

  // (3, 3) is one text to YAML.
  static Value as_list(const Value& held) {
    const auto* text = held.text();
    if (text == nullptr || text->size() < 2 || text->front() != '(') return held;
    const auto inside = trim(std::string_view(*text).substr(1, text->size() - 2));
    const auto items = inside.ends_with(',') ? inside.substr(0, inside.size() - 1) : inside;
    return read_override(fmt::format("[{}]", items), Dialect::pyyaml, held.place);
  }

  void refer(Value& value, const std::string& text) {
    const auto here = value.place;
    if (!busy_.insert(&value).second || busy_.size() > most_hyperpyyaml_references) {
      note(here, "a circular reference: " + text.substr(0, 120));
      value = Value({}, here);
      return;
    }
    Value made = expand(text, here);
    busy_.erase(&value);
    if (here && made.place != here) {
      Place place = *here;
      place.from = made.place;
      made.place = std::make_shared<const Place>(std::move(place));
    }
    value = std::move(made);
  }

  // <a> alone is the value itself; within more it is written out, and a sum is calculated.
  Value expand(std::string_view text, const PlacePtr& here) {
    const auto close = text.find('>');
    if (text.starts_with('<') && close + 1 == text.size())
      return look_up(text.substr(1, close - 1), here);
    std::string joined;
    PlacePtr from;
    for (std::size_t at = 0; at < text.size();) {
      const auto open = std::min(text.find('<', at), text.size());
      const auto end = text.find('>', open);
      joined += text.substr(at, open - at);
      if (end == std::string_view::npos) {
        joined += text.substr(open);
        break;
      }
      const Value value = look_up(text.substr(open + 1, end - open - 1), here);
      if (value.is_unknown() || joined.size() > most_characters) return Value({}, here);
      joined += shown(value);
      from = value.place;
      at = end + 1;
    }
    auto result = is_arithmetic(joined) ? evaluate(joined) : std::nullopt;
    return Value(result ? *std::move(result) : Value::Data(std::move(joined)), from);
  }

  Value look_up(std::string_view inside, const PlacePtr& here) {
    auto* const found = const_cast<Value*>(find_path(root_, dotted_key(inside)));
    if (found == nullptr || busy_.contains(found)) {
      note(here, fmt::format("<{}> is not in the config or refers to itself", inside));
      return {};
    }
    if (budget_.copied <= most_nodes) resolve(*found, static_cast<int>(busy_.size()));
    budget_.copied += count(*found);
    if (budget_.copied <= most_nodes) return found->deep_copy();
    note(here, "references copy more than a million values");
    return {};
  }

  static std::size_t count(const Value& value) {
    std::size_t nodes = 1;
    if (const List* items = value.items())
      for (const Value& item : *items) nodes += count(item);
    if (const Dict* dict = value.entries())
      for (const auto& entry : dict->all()) nodes += count(entry.value);
    return nodes;
  }

  // The entries beside the tag are overrides of the included file.
  void include(Value& value, std::string_view path) {
    const std::string from = value.place ? value.place->file : "";
    const auto folder = from.substr(0, from.find('/') == std::string::npos ? 0 : from.rfind('/'));
    const auto joined = tree_.locate(folder, path);
    const bool may_read = joined && ++budget_.includes <= most_includes;
    const auto file = may_read ? read_config(tree_, *joined) : Result<Value>(Value());
    if (!file || file->entries() == nullptr) {
      note(value.place, fmt::format("the included config '{}' could not be read", path));
      value = Value({}, value.place);
      return;
    }
    value.entries()->erase("!tag");
    value.entries()->erase("!value");
    value = code::merged(*file, value);
    Resolver(tree_, value, budget_).resolve(value, 0);
    mark_composed(value);
  }

  void note(const PlacePtr& place, std::string_view what) {
    const auto where = place ? fmt::format("{}:{}: ", place->file, place->line) : "";
    tree_.degrade(where + std::string(what));
  }

  tree::Tree& tree_;
  Value& root_;
  Budget& budget_;
  std::set<const Value*> busy_;
};

}  // namespace

void resolve_hyperpyyaml(tree::Tree& tree, Value& root) {
  Budget budget;
  Resolver(tree, root, budget).resolve(root, 0);
}

}  // namespace schedmate::config
