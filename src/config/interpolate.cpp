// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <set>
#include <utility>

#include "base/text.hpp"
#include "config/arithmetic.hpp"
#include "config/config.hpp"
#include "config/interpolation_text.hpp"
#include "config/scalars.hpp"

namespace schedmate::config {
namespace {

constexpr int most_chained_references = 100;  ///< that lead on to further references

/// A node with the dicts and lists that it stands in, outermost first.
struct Spot {
  Value* node = nullptr;
  std::vector<Value*> parents;
};

Value* child_of(const Value& value, std::string_view key) {
  if (Dict* dict = value.entries()) return dict->find(key);
  List* list = value.items();
  auto index = parse_number<std::int64_t>(key);
  if (list == nullptr || !index) return nullptr;
  const auto size = static_cast<std::int64_t>(list->size());
  if (*index < 0) *index += size;
  return *index >= 0 && *index < size ? &(*list)[static_cast<std::size_t>(*index)] : nullptr;
}

std::string as_text(const Value& value) {
  const auto* text = value.text();
  return text != nullptr ? *text : repr(value);
}

std::size_t count_nodes(const Value& value) {
  std::size_t nodes = 1;
  if (const List* items = value.items())
    for (const Value& item : *items) nodes += count_nodes(item);
  if (const Dict* dict = value.entries())
    for (const auto& entry : dict->all()) nodes += count_nodes(entry.value);
  return nodes;
}

bool is_missing(const Value* value) {
  return value == nullptr || (value->text() != nullptr && *value->text() == "???");
}

class Interpolator {
 public:
  Interpolator(tree::Tree& tree, Value& root, const Dict& environment)
      : tree_(tree), root_(root), environment_(environment) {}

  /// Resolves everything at and below the spot.
  void settle(Spot spot) {
    settle_text(spot);
    spot.parents.push_back(spot.node);
    if (spot.parents.size() > static_cast<std::size_t>(most_nesting)) return;
    if (List* items = spot.node->items())
      for (Value& item : *items) settle({&item, spot.parents});
    if (Dict* dict = spot.node->entries())
      for (const auto& entry : dict->all()) settle({dict->find(entry.key), spot.parents});
  }

 private:
  // Only the node itself, when it is a text with expressions.
  void settle_text(const Spot& spot) {
    Value& node = *spot.node;
    if (node.text() == nullptr || !has_expression(*node.text())) return;
    if (!busy_.insert(&node).second) return;
    const std::string text = *node.text();
    Value made = read_text(text, spot);
    busy_.erase(&node);
    node = std::move(made);
  }

  void note(const PlacePtr& place, std::string_view text, std::string_view why) {
    const auto where = place ? fmt::format("{}:{}: ", place->file, place->line) : "";
    tree_.degrade(fmt::format("{}{} {}", where, text.substr(0, 120), why));
  }

  static Value derived(Value value, const PlacePtr& here) {
    if (!here || value.place == here) return value;
    Place place = *here;
    place.from = value.place;
    value.place = std::make_shared<const Place>(std::move(place));
    return value;
  }

  Value read_text(std::string_view text, const Spot& spot) {
    if (depth_ > most_chained_references) {
      note(spot.node->place, text, "is nested too deeply");
      return {};
    }
    ++depth_;
    Value value = read_parts(text, spot);
    --depth_;
    return value;
  }

  // One expression keeps its type; mixed with letters it is a text.
  Value read_parts(std::string_view text, const Spot& spot) {
    const PlacePtr& here = spot.node->place;
    const auto parts = split_expressions(text);
    if (!parts) {
      note(here, text, "has a brace that is not closed");
      return Value({}, here);
    }
    if (parts->size() == 1 && parts->front().is_expression)
      return derived(read_expression(parts->front().text, spot), here);
    std::string joined;
    PlacePtr from;
    for (const auto& [part, is_expression] : *parts) {
      if (!is_expression) {
        joined += part;
        continue;
      }
      const Value value = read_expression(part, spot);
      if (value.is_unknown()) return Value({}, here);
      joined += as_text(value);
      if (joined.size() > most_characters) return Value({}, here);
      from = value.place;
    }
    return derived(Value(std::move(joined), from), here);
  }

  Value read_expression(std::string_view inside, const Spot& spot) {
    if (const auto call = split_resolver(inside)) return resolve(*call, spot);
    std::string keys(inside);
    if (has_expression(inside)) {
      const Value inner = read_text(inside, spot);
      if (inner.text() == nullptr) return {};
      keys = *inner.text();
    }
    const auto found = look_up(keys, spot);
    if (!found.node) {
      note(spot.node->place, "${" + keys + "}", "is not in the config or refers to itself");
      return {};
    }
    return copy_of(found, spot);
  }

  Value copy_of(const Spot& found, const Spot& spot) {
    if (depth_ > most_chained_references || copied_ > most_nodes) return {};
    ++depth_;
    settle(found);
    --depth_;
    copied_ += count_nodes(*found.node);
    if (copied_ > most_nodes) {
      note(spot.node->place, "${...}", "copies more than a million values");
      return {};
    }
    return found.node->deep_copy();
  }

  // Steps that are themselves references are followed first.
  Spot look_up(std::string_view keys, const Spot& from) {
    const auto reference = split_reference(keys);
    Spot at{&root_, {}};
    if (reference.dots > 0) {
      if (reference.dots > from.parents.size()) return {};
      const auto index = from.parents.size() - reference.dots;
      at.node = from.parents[index];
      at.parents.assign(from.parents.begin(),
                        from.parents.begin() + static_cast<std::ptrdiff_t>(index));
    }
    for (const auto& key : reference.keys) {
      settle_text(at);
      Value* const next = child_of(*at.node, key);
      if (next == nullptr) return {};
      at.parents.push_back(std::exchange(at.node, next));
    }
    if (busy_.contains(at.node)) return {};
    return at;
  }

  Value read_argument(std::string_view text, const Spot& spot) {
    const bool is_quoted =
        text.size() >= 2 && (text[0] == '\'' || text[0] == '"') && text.back() == text[0];
    if (is_quoted) {
      const auto inner = text.substr(1, text.size() - 2);
      return has_expression(inner) ? read_text(inner, spot) : Value(std::string(inner));
    }
    if (!has_expression(text)) return read_override(text, Dialect::hydra, spot.node->place);
    Value value = read_text(text, spot);
    if (value.items() != nullptr || text.starts_with("${") || value.text() == nullptr) return value;
    return read_override(*value.text(), Dialect::hydra, value.place);
  }

  Value resolve(const ResolverCall& call, const Spot& spot) {
    const auto name = call.name;
    if (name == "oc.env" || name == "env") return read_environment(call, spot);
    if (name == "oc.select" || name == "oc.deprecated") return select(call, spot);
    if (name == "oc.dict.keys" || name == "oc.dict.values") return list_of(call, spot);
    if (name == "now" || name == "hydra") return {};  // made at run time, decides no fact
    if (name == "eval" || name == "calc" || name == "python" || name == "expr")
      return evaluate_text(call, spot);
    List arguments;
    for (const auto text : call.arguments) arguments.push_back(read_argument(text, spot));
    for (const Value& argument : arguments)
      if (argument.is_unknown()) return {};
    const auto from = arguments.empty() ? PlacePtr() : arguments[0].place;
    if (name == "oc.create" && arguments.size() == 1) return arguments[0];
    if (name == "oc.decode" && arguments.size() == 1) {
      const auto* text = arguments[0].text();
      return text == nullptr ? arguments[0] : read_override(*text, Dialect::hydra, from);
    }
    if (auto result = calculate(name, arguments)) return Value(*std::move(result), from);
    note(spot.node->place, fmt::format("${{{}:{}}}", name, call.rest),
         "calls a resolver of the program");
    return {};
  }

  Value read_environment(const ResolverCall& call, const Spot& spot) {
    if (call.arguments.empty()) return {};
    const Value name = read_argument(call.arguments[0], spot);
    if (const Value* set = environment_.find(as_text(name))) return *set;
    if (call.arguments.size() < 2) {
      note(spot.node->place, as_text(name), "is a variable of the job's environment");
      return {};
    }
    Value fallback = read_argument(call.arguments[1], spot);
    if (call.name == "env" || fallback.is_none() || fallback.is_unknown()) return fallback;
    return Value(as_text(fallback), fallback.place);
  }

  Value select(const ResolverCall& call, const Spot& spot) {
    if (call.arguments.empty()) return {};
    const auto found = look_up(as_text(read_argument(call.arguments[0], spot)), spot);
    if (!is_missing(found.node)) return copy_of(found, spot);
    if (call.arguments.size() < 2) return Value::none(spot.node->place);
    return read_argument(call.arguments[1], spot);
  }

  Value list_of(const ResolverCall& call, const Spot& spot) {
    if (call.arguments.empty()) return {};
    const auto found = look_up(as_text(read_argument(call.arguments[0], spot)), spot);
    if (!found.node || found.node->entries() == nullptr) return {};
    const Value copy = copy_of(found, spot);
    if (copy.entries() == nullptr) return {};
    List items;
    for (const auto& [key, value] : copy.entries()->all())
      items.push_back(call.name == "oc.dict.keys" ? Value(key, value.place) : value);
    return Value::list(std::move(items), copy.place);
  }

  Value evaluate_text(const ResolverCall& call, const Spot& spot) {
    auto text = trim(call.rest);
    const bool is_quoted = call.arguments.size() == 1 && text.size() >= 2 &&
                           (text[0] == '\'' || text[0] == '"') && text.back() == text[0];
    if (is_quoted) text = text.substr(1, text.size() - 2);
    Value expanded(std::string(text), spot.node->place);
    if (has_expression(text)) expanded = read_text("(" + std::string(text) + ")", spot);
    if (expanded.is_unknown()) return {};
    if (auto result = evaluate(as_text(expanded))) return Value(*std::move(result), expanded.place);
    note(spot.node->place, fmt::format("${{{}:{}}}", call.name, call.rest),
         "is more than arithmetic");
    return {};
  }

  tree::Tree& tree_;
  Value& root_;
  const Dict& environment_;
  std::set<const Value*> busy_;
  int depth_ = 0;
  std::size_t copied_ = 0;
};

}  // namespace

void interpolate(tree::Tree& tree, Value& root, const Dict& environment) {
  Interpolator(tree, root, environment).settle({&root, {}});
}

}  // namespace schedmate::config
