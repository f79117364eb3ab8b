// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include "python/natives/config_nodes.hpp"
#include "python/natives/file_object.hpp"
#include "python/natives/parts.hpp"
#include "python/natives/type_hint.hpp"

namespace schedmate::natives {
namespace {

constexpr int deepest_node = 20;

/// Classes that configs were made of, with the names of their fields.
struct Structures : code::Object {
  std::vector<std::pair<std::set<std::string>, code::Value>> known;
};

Structures& structures(python::Machine& machine) {
  auto& held = machine.memory["omegaconf.structures"];
  if (!held) held = std::make_shared<Structures>();
  return static_cast<Structures&>(*held);
}

void remember(python::Machine& machine, const code::Value& type, const python::ClassView& view) {
  std::set<std::string> names;
  for (const python::Parameter& field : view.fields) names.insert(field.name);
  auto& known = structures(machine).known;
  const auto same = [&](const auto& each) {
    return each.first == names && each.second.object() == type.object();
  };
  if (std::ranges::none_of(known, same)) known.emplace_back(std::move(names), type);
}

/// OmegaConf.get_type(config): the only class with these fields; dict when there is none.
code::Value type_of_config(python::Machine& machine, const python::Arguments& arguments) {
  const code::Value* config = arguments.find("obj", 0);
  const auto* node = config == nullptr ? nullptr : object_as<AttributeDict>(*config);
  if (node == nullptr) return unknown(arguments.place);
  std::set<std::string> names;
  for (const auto& entry : node->held().entries()->all()) names.insert(entry.key);
  code::Value found;
  for (const auto& [fields, type] : structures(machine).known) {
    if (fields != names) continue;
    if (!found.is_unknown()) return unknown(arguments.place);
    found = type;
  }
  return found;
}

code::Value from_dataclass(python::Machine& machine, const code::Value& value, int depth) {
  if (depth > deepest_node) return unknown(value.place);
  code::Dict fields;
  if (const auto* instance = object_as<python::Instance>(value)) {
    for (const auto& [key, field] : instance->fields.all())
      fields.set(key, from_dataclass(machine, field, depth + 1));
    return code::Value::dict(std::move(fields), value.place);
  }
  if (symbol_name(value) == "omegaconf.MISSING") return code::Value("???");
  const auto type = machine.type(value);
  if (!type) return value;
  remember(machine, value, *type);
  for (const python::Parameter& field : type->fields) {
    const code::Value fallback = field.fallback.value_or(code::Value("???"));
    fields.set(field.name, from_dataclass(machine, placed(fallback, field.place), depth + 1));
  }
  return code::Value::dict(std::move(fields), type->place);
}

/// A copy in which nodes stand for what they hold, however deep they are.
code::Value without_nodes(const code::Value& value, int depth = 0) {
  code::Value plain = unwrapped(value);
  if (depth > deepest_node) return plain;
  if (const code::List* list = plain.items()) {
    code::List items;
    for (const code::Value& item : *list) items.push_back(without_nodes(item, depth + 1));
    return code::Value::list(std::move(items), plain.place);
  }
  if (const code::Dict* dict = plain.entries()) {
    code::Dict entries;
    for (const auto& [key, item] : dict->all()) entries.set(key, without_nodes(item, depth + 1));
    return code::Value::dict(std::move(entries), plain.place);
  }
  return plain;
}

code::Value create(python::Machine& machine, const python::Arguments& arguments) {
  const code::Value* from = arguments.find("obj", 0);
  if (from == nullptr) from = arguments.named.find("content");
  if (from == nullptr) return make_dict_config(code::Value::dict({}), arguments.place);
  return make_dict_config(without_nodes(plain_config(machine, *from)), arguments.place);
}

code::Value load_file(python::Machine& machine, const python::Arguments& arguments) {
  const code::Value* path = arguments.find("file_", 0);
  if (path == nullptr) return unknown(arguments.place);
  const code::Value file = path_text(*path) ? open_file(machine, *path, arguments.place) : *path;
  code::Value settings =
      read_settings(machine, file, config::ConfigFormat::yaml, "omegaconf.OmegaConf.load");
  if (settings.is_unknown()) return unknown(arguments.place);
  return make_dict_config(std::move(settings), arguments.place);
}

code::Value merge(python::Machine& machine, const python::Arguments& arguments) {
  code::Value all = code::Value::dict({}, arguments.place);
  for (const code::Value& each : arguments.positional) {
    const code::Value plain = plain_config(machine, each);
    if (plain.entries() == nullptr && plain.items() == nullptr) continue;
    all = code::merged(all, without_nodes(plain));
  }
  return make_dict_config(all, arguments.place);
}

code::Value from_words(python::Machine&, const std::vector<command::Word>& words,
                       const code::PlacePtr& place) {
  code::List overrides;
  for (const command::Word& word : words) {
    const bool setting = word.text.find('=') != std::string::npos;
    overrides.emplace_back(setting ? word.text : word.text + "=null", word.place);
  }
  code::Value config = code::Value::dict({}, place);
  config::apply_dotlist(config, overrides);
  return make_dict_config(config, place);
}

code::Value from_command(python::Machine& machine, const python::Arguments& arguments) {
  const code::Value* own = arguments.find("args_list", 0);
  const bool given = own != nullptr && own->items() != nullptr;
  return from_words(machine, given ? as_words(machine, *own) : program_words(machine),
                    arguments.place);
}

code::Value to_container(python::Machine& machine, const python::Arguments& arguments) {
  if (arguments.positional.empty()) return unknown(arguments.place);
  const auto* node = object_as<AttributeDict>(arguments.positional[0]);
  const bool resolves = truth_or(arguments.find("resolve", 1), false);
  if (node != nullptr && resolves) return node->resolved(machine);
  return plain_config(machine, arguments.positional[0]).deep_copy();
}

code::Value select(python::Machine& machine, const python::Arguments& arguments) {
  const code::Value* config = arguments.find("cfg", 0);
  const code::Value* key = arguments.find("key", 1);
  const code::Value* otherwise = arguments.named.find("default");
  if (config == nullptr || key == nullptr || key->text() == nullptr)
    return unknown(arguments.place);
  const auto* node = object_as<AttributeDict>(*config);
  const code::Value plain =
      node == nullptr ? plain_config(machine, *config) : node->resolved(machine);
  const code::Value* found = code::find_path(plain, *key->text());
  if (found == nullptr)
    return otherwise == nullptr ? code::Value::none(arguments.place) : *otherwise;
  return make_dict_config(*found, found->place);
}

code::Value update_node(python::Machine& machine, const python::Arguments& arguments) {
  const code::Value* config = arguments.find("cfg", 0);
  const code::Value* key = arguments.find("key", 1);
  const code::Value* value = arguments.find("value", 2);
  if (config != nullptr && key != nullptr && key->text() != nullptr && value != nullptr) {
    code::Value plain = plain_config(machine, *config);
    code::set_path(plain, *key->text(), unwrapped(*value));
  }
  return code::Value::none(arguments.place);
}

code::Value resolve(python::Machine& machine, const python::Arguments& arguments) {
  auto* node =
      arguments.positional.empty() ? nullptr : object_as<AttributeDict>(arguments.positional[0]);
  if (node == nullptr) return code::Value::none(arguments.place);
  const code::Value plain = node->resolved(machine);
  if (plain.entries() != nullptr) node->replace(plain);
  return code::Value::none(arguments.place);
}

/// II("a.b") stands for "${a.b}", SI(text) for the text.
code::Value interpolated(python::Machine&, const python::Arguments& arguments) {
  const code::Value* path = arguments.find("interpolation", 0);
  if (path == nullptr || path->text() == nullptr) return unknown(arguments.place);
  return {"${" + *path->text() + "}", path->place};
}

template <class Test>
python::Native asks(Test test) {
  return [test](python::Machine&, const python::Arguments& arguments) {
    return arguments.positional.empty()
               ? unknown(arguments.place)
               : code::Value(test(arguments.positional[0]), arguments.place);
  };
}

}  // namespace

code::Value make_dict_config(code::Value plain, const code::PlacePtr& place) {
  if (plain.entries() == nullptr) return placed(std::move(plain), place);
  return value_of(std::make_shared<AttributeDict>(
                      AttributeDict::Style{.type = "omegaconf.DictConfig", .interpolates = true},
                      std::move(plain)),
                  place);
}

code::Value plain_config(python::Machine& machine, const code::Value& value) {
  if (const auto* text = value.text()) {
    const auto parsed = config::parse_config(*text, config::ConfigFormat::yaml,
                                             value.place ? value.place->file : "");
    return parsed ? *parsed : value;
  }
  if (auto* native = object_as<python::NativeObject>(value)) {
    const auto plain = native->plain();
    return plain ? *plain : value;
  }
  return value.object() == nullptr ? value : from_dataclass(machine, value, 0);
}

void merge_into(code::Value& node, const code::Value& above) {
  code::Dict* below = node.entries();
  const code::Dict* over = above.entries();
  if (below == nullptr || over == nullptr) return;
  for (const auto& [key, value] : over->all()) {
    code::Value* old = below->find(key);
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
      asks([](const code::Value& value) { return object_as<AttributeDict>(value) != nullptr; });
  table[conf + "is_dict"] = table[conf + "is_config"];
  table[conf + "is_list"] = asks([](const code::Value& value) { return value.items() != nullptr; });
  table["omegaconf.II"] = interpolated;
  table["omegaconf.SI"] = gives_first;
  table["omegaconf.open_dict"] = gives_first;
  table["omegaconf.read_write"] = gives_first;
  table["omegaconf.flag_override"] = gives_first;
}

}  // namespace schedmate::natives
