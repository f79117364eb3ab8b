// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include "python/natives/config_nodes.hpp"
#include "python/natives/file_object.hpp"
#include "python/natives/parts.hpp"
#include "python/natives/type_hint.hpp"

namespace schedmate::python::natives {
namespace {

constexpr int deepest_node = 20;

/// Classes that configs were made of, with the names of their fields.
struct Structures : Object {
  std::vector<std::pair<std::set<std::string>, Value>> known;
};

Structures& structures(Machine& machine) {
  auto& held = machine.memory["omegaconf.structures"];
  if (!held) held = std::make_shared<Structures>();
  return static_cast<Structures&>(*held);
}

void remember(Machine& machine, const Value& type, const ClassView& view) {
  std::set<std::string> names;
  for (const Parameter& field : view.fields) names.insert(field.name);
  auto& known = structures(machine).known;
  const auto same = [&](const auto& each) {
    return each.first == names && each.second.object() == type.object();
  };
  if (std::ranges::none_of(known, same)) known.emplace_back(std::move(names), type);
}

/// OmegaConf.get_type(config): the only class with these fields; dict when there is none.
Value type_of_config(Machine& machine, const Arguments& arguments) {
  const Value* config = arguments.find("obj", 0);
  const auto* node = config == nullptr ? nullptr : object_as<AttributeDict>(*config);
  if (node == nullptr) return unknown(arguments.place);
  std::set<std::string> names;
  for (const auto& entry : node->held().entries()->all()) names.insert(entry.key);
  Value found;
  for (const auto& [fields, type] : structures(machine).known) {
    if (fields != names) continue;
    if (!found.is_unknown()) return unknown(arguments.place);
    found = type;
  }
  return found;
}

Value from_dataclass(Machine& machine, const Value& value, int depth) {
  if (depth > deepest_node) return unknown(value.place);
  Dict fields;
  if (const auto* instance = object_as<Instance>(value)) {
    for (const auto& [key, field] : instance->fields.all())
      fields.set(key, from_dataclass(machine, field, depth + 1));
    return Value::dict(std::move(fields), value.place);
  }
  if (symbol_name(value) == "omegaconf.MISSING") return Value("???");
  const auto type = machine.type(value);
  if (!type) return value;
  remember(machine, value, *type);
  for (const Parameter& field : type->fields) {
    const Value fallback = field.fallback.value_or(Value("???"));
    fields.set(field.name, from_dataclass(machine, placed(fallback, field.place), depth + 1));
  }
  return Value::dict(std::move(fields), type->place);
}

/// A copy in which nodes stand for what they hold, however deep they are.
Value without_nodes(const Value& value, int depth = 0) {
  Value plain = unwrapped(value);
  if (depth > deepest_node) return plain;
  if (const List* list = plain.items()) {
    List items;
    for (const Value& item : *list) items.push_back(without_nodes(item, depth + 1));
    return Value::list(std::move(items), plain.place);
  }
  if (const Dict* dict = plain.entries()) {
    Dict entries;
    for (const auto& [key, item] : dict->all()) entries.set(key, without_nodes(item, depth + 1));
    return Value::dict(std::move(entries), plain.place);
  }
  return plain;
}

Value create(Machine& machine, const Arguments& arguments) {
  const Value* from = arguments.find("obj", 0);
  if (from == nullptr) from = arguments.named.find("content");
  if (from == nullptr) return make_dict_config(Value::dict({}), arguments.place);
  return make_dict_config(without_nodes(plain_config(machine, *from)), arguments.place);
}

Value load_file(Machine& machine, const Arguments& arguments) {
  const Value* path = arguments.find("file_", 0);
  if (path == nullptr) return unknown(arguments.place);
  const Value file = path_text(*path) ? open_file(machine, *path, arguments.place) : *path;
  Value settings =
      read_settings(machine, file, config::ConfigFormat::yaml, "omegaconf.OmegaConf.load");
  if (settings.is_unknown()) return unknown(arguments.place);
  return make_dict_config(std::move(settings), arguments.place);
}

Value merge(Machine& machine, const Arguments& arguments) {
  Value all = Value::dict({}, arguments.place);
  for (const Value& each : arguments.positional) {
    const Value plain = plain_config(machine, each);
    if (plain.entries() == nullptr && plain.items() == nullptr) continue;
    all = code::merged(all, without_nodes(plain));
  }
  return make_dict_config(all, arguments.place);
}

Value from_words(Machine&, const std::vector<command::Word>& words, const PlacePtr& place) {
  List overrides;
  for (const command::Word& word : words) {
    const bool setting = word.text.find('=') != std::string::npos;
    overrides.emplace_back(setting ? word.text : word.text + "=null", word.place);
  }
  Value config = Value::dict({}, place);
  config::apply_dotlist(config, overrides);
  return make_dict_config(config, place);
}

Value from_command(Machine& machine, const Arguments& arguments) {
  const Value* own = arguments.find("args_list", 0);
  const bool given = own != nullptr && own->items() != nullptr;
  return from_words(machine, given ? as_words(machine, *own) : program_words(machine),
                    arguments.place);
}

Value to_container(Machine& machine, const Arguments& arguments) {
  if (arguments.positional.empty()) return unknown(arguments.place);
  const auto* node = object_as<AttributeDict>(arguments.positional[0]);
  const bool resolves = truth_or(arguments.find("resolve", 1), false);
  if (node != nullptr && resolves) return node->resolved(machine);
  return plain_config(machine, arguments.positional[0]).deep_copy();
}

Value select(Machine& machine, const Arguments& arguments) {
  const Value* config = arguments.find("cfg", 0);
  const Value* key = arguments.find("key", 1);
  const Value* otherwise = arguments.named.find("default");
  if (config == nullptr || key == nullptr || key->text() == nullptr)
    return unknown(arguments.place);
  const auto* node = object_as<AttributeDict>(*config);
  const Value plain = node == nullptr ? plain_config(machine, *config) : node->resolved(machine);
  const Value* found = find_path(plain, *key->text());
  if (found == nullptr) return otherwise == nullptr ? Value::none(arguments.place) : *otherwise;
  return make_dict_config(*found, found->place);
}

Value update_node(Machine& machine, const Arguments& arguments) {
  const Value* config = arguments.find("cfg", 0);
  const Value* key = arguments.find("key", 1);
  const Value* value = arguments.find("value", 2);
  if (config != nullptr && key != nullptr && key->text() != nullptr && value != nullptr) {
    Value plain = plain_config(machine, *config);
    set_path(plain, *key->text(), unwrapped(*value));
  }
  return Value::none(arguments.place);
}

Value resolve(Machine& machine, const Arguments& arguments) {
  auto* node =
      arguments.positional.empty() ? nullptr : object_as<AttributeDict>(arguments.positional[0]);
  if (node == nullptr) return Value::none(arguments.place);
  const Value plain = node->resolved(machine);
  if (plain.entries() != nullptr) node->replace(plain);
  return Value::none(arguments.place);
}

/// II("a.b") stands for "${a.b}", SI(text) for the text.
Value interpolated(Machine&, const Arguments& arguments) {
  const Value* path = arguments.find("interpolation", 0);
  if (path == nullptr || path->text() == nullptr) return unknown(arguments.place);
  return {"${" + *path->text() + "}", path->place};
}

template <class Test>
Native asks(Test test) {
  return [test](Machine&, const Arguments& arguments) {
    return arguments.positional.empty() ? unknown(arguments.place)
                                        : Value(test(arguments.positional[0]), arguments.place);
  };
}

}  // namespace

Value make_dict_config(Value plain, const PlacePtr& place) {
  if (plain.entries() == nullptr) return placed(std::move(plain), place);
  return value_of(std::make_shared<AttributeDict>(
                      AttributeDict::Style{.type = "omegaconf.DictConfig", .interpolates = true},
                      std::move(plain)),
                  place);
}

Value plain_config(Machine& machine, const Value& value) {
  if (const auto* text = value.text()) {
    const auto parsed = config::parse_config(*text, config::ConfigFormat::yaml,
                                             value.place ? value.place->file : "");
    return parsed ? *parsed : value;
  }
  if (auto* native = object_as<NativeObject>(value)) {
    const auto plain = native->plain();
    return plain ? *plain : value;
  }
  return value.object() == nullptr ? value : from_dataclass(machine, value, 0);
}

void merge_into(Value& node, const Value& above) {
  Dict* below = node.entries();
  const Dict* over = above.entries();
  if (below == nullptr || over == nullptr) return;
  for (const auto& [key, value] : over->all()) {
    Value* old = below->find(key);
    if (old != nullptr && old->entries() != nullptr && value.entries() != nullptr) {
      merge_into(*old, value);
    } else {
      below->set(key, value.deep_copy());
    }
  }
}

void add_omegaconf(NativeTable& table) {
  const std::string conf = "omegaconf.OmegaConf.";
  table[conf + "get_type"] = type_of_config;
  table[conf + "create"] = create;
  table["omegaconf.DictConfig"] = create;
  table["omegaconf.ListConfig"] = create;
  table[conf + "structured"] = create;
  table[conf + "load"] = load_file;
  table[conf + "merge"] = merge;
  table[conf + "unsafe_merge"] = merge;
  table[conf + "from_cli"] = from_command;
  table[conf + "from_dotlist"] = from_command;
  table[conf + "to_container"] = to_container;
  table[conf + "to_object"] = to_container;
  table[conf + "select"] = select;
  table[conf + "update"] = update_node;
  table[conf + "resolve"] = resolve;
  for (const auto* const name :
       {"set_struct", "set_readonly", "save", "register_new_resolver", "register_resolver",
        "clear_resolvers", "legacy_register_resolver"})
    table[conf + name] = returns_none;
  table[conf + "is_config"] =
      asks([](const Value& value) { return object_as<AttributeDict>(value) != nullptr; });
  table[conf + "is_dict"] = table[conf + "is_config"];
  table[conf + "is_list"] = asks([](const Value& value) { return value.items() != nullptr; });
  table["omegaconf.II"] = interpolated;
  table["omegaconf.SI"] = gives_first;
  table["omegaconf.open_dict"] = gives_first;
  table["omegaconf.read_write"] = gives_first;
  table["omegaconf.flag_override"] = gives_first;
}

}  // namespace schedmate::python::natives
