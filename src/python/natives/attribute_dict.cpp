// SPDX-License-Identifier: Apache-2.0
#include "python/natives/attribute_dict.hpp"

#include <algorithm>

namespace schedmate::python::natives {
namespace {

using DictObjectPtr = std::shared_ptr<AttributeDict>;
using DictMethod = Value (*)(Machine&, const DictObjectPtr&, const Arguments&);

List key_list(const DictObjectPtr& self) {
  List keys;
  for (const auto& [key, value] : self->entries().all()) keys.emplace_back(key, value.place);
  return keys;
}

Value keys(Machine&, const DictObjectPtr& self, const Arguments&) {
  return Value::list(key_list(self));
}

Value values(Machine& machine, const DictObjectPtr& self, const Arguments&) {
  List list;
  for (const Value& key : key_list(self))
    list.push_back(self->entry(machine, *key.text()).value_or(Value{}));
  return Value::list(std::move(list));
}

Value items(Machine& machine, const DictObjectPtr& self, const Arguments&) {
  List list;
  for (const Value& key : key_list(self))
    list.push_back(Value::list({key, self->entry(machine, *key.text()).value_or(Value{})}));
  return Value::list(std::move(list));
}

Value get(Machine& machine, const DictObjectPtr& self, const Arguments& arguments) {
  const Value* key = arguments.find("key", 0);
  const Value* otherwise = arguments.find("default", 1);
  if (key == nullptr || key->is_unknown()) return unknown(arguments.place);
  auto found = self->entries().find(key_text(*key)) != nullptr
                   ? self->entry(machine, key_text(*key))
                   : std::nullopt;
  if (found) return *found;
  return otherwise == nullptr ? Value::none(arguments.place) : *otherwise;
}

Value pop(Machine& machine, const DictObjectPtr& self, const Arguments& arguments) {
  const Value result = get(machine, self, arguments);
  if (const Value* key = arguments.find("key", 0)) self->entries().erase(key_text(*key));
  return result;
}

Value set_default(Machine& machine, const DictObjectPtr& self, const Arguments& arguments) {
  const Value* key = arguments.find("key", 0);
  const Value* otherwise = arguments.find("default", 1);
  if (key == nullptr || key->is_unknown()) return unknown(arguments.place);
  if (self->entries().find(key_text(*key)) == nullptr)
    self->entries().set(key_text(*key), otherwise == nullptr ? Value::none(arguments.place)
                                                             : unwrapped(*otherwise));
  return self->entry(machine, key_text(*key)).value_or(Value{});
}

Value update(Machine& machine, const DictObjectPtr& self, const Arguments& arguments) {
  const auto put = [&](std::string_view key, const Value& value) {
    if (!self->set_item(machine, Value(std::string(key)), value))
      self->entries().set(key, unwrapped(value));
  };
  for (const Value& other : arguments.positional) {
    Value holder;
    if (const Dict* dict = dict_of(other, holder)) {
      const Dict entries = *dict;  // may be our own
      for (const auto& [key, value] : entries.all()) put(key, value);
    }
  }
  for (const auto& [key, value] : arguments.named.all()) put(key, value);
  return Value::none(arguments.place);
}

Value contains(Machine&, const DictObjectPtr& self, const Arguments& arguments) {
  const Value* key = arguments.find("key", 0);
  if (key == nullptr || key->is_unknown()) return unknown(arguments.place);
  return {self->entries().find(key_text(*key)) != nullptr, arguments.place};
}

Value plain_copy(Machine&, const DictObjectPtr& self, const Arguments&) {
  return self->held().deep_copy();
}

constexpr std::pair<std::string_view, DictMethod> dict_methods[] = {{"keys", keys},
                                                                    {"values", values},
                                                                    {"items", items},
                                                                    {"get", get},
                                                                    {"pop", pop},
                                                                    {"update", update},
                                                                    {"setdefault", set_default},
                                                                    {"__contains__", contains},
                                                                    {"to_dict", plain_copy},
                                                                    {"toDict", plain_copy},
                                                                    {"as_dict", plain_copy},
                                                                    {"has", contains},
                                                                    {"__getitem__", get}};

}  // namespace

std::string key_text(const Value& key) {
  if (const std::string* text = key.text()) return *text;
  return repr(key);
}

Value unwrapped(const Value& value) {
  if (auto* node = object_as<AttributeDict>(value))
    return node->style().wraps_nested ? placed(node->held(), value.place) : value;
  if (const List* list = value.items()) {
    const bool has_nodes = std::ranges::any_of(
        *list, [](const Value& item) { return object_as<AttributeDict>(item) != nullptr; });
    if (!has_nodes) return value;
    List plain;
    for (const Value& item : *list) plain.push_back(unwrapped(item));
    return Value::list(std::move(plain), value.place);
  }
  return value;
}

AttributeDict::AttributeDict(Style style, Value held)
    : style_(std::move(style)), held_(std::move(held)) {
  if (held_.entries() == nullptr) held_ = Value::dict({}, held_.place);
  root_ = held_;
}

std::shared_ptr<AttributeDict> AttributeDict::same_type(Value nested) const {
  return std::make_shared<AttributeDict>(style_, std::move(nested));
}

Value AttributeDict::wrap(Value value, std::string_view key) {
  if (!style_.wraps_nested) return value;
  const std::string path = path_.empty() ? std::string(key) : path_ + "." + std::string(key);
  if (value.entries() != nullptr) {
    const PlacePtr place = value.place;
    auto node = same_type(std::move(value));
    node->root_ = root_;
    node->path_ = path;
    node->extension = extension;
    return value_of(std::move(node), place);
  }
  const List* list = value.items();
  if (list == nullptr ||
      std::ranges::none_of(*list, [](const Value& item) { return item.entries() != nullptr; }))
    return value;
  List wrapped;
  for (std::size_t i = 0; i < list->size(); ++i)
    wrapped.push_back(wrap((*list)[i], std::string(key) + "." + std::to_string(i)));
  return Value::list(std::move(wrapped), value.place);
}

std::optional<Value> AttributeDict::entry(Machine& machine, std::string_view key) {
  const Value* found = entries().find(key);
  if (found == nullptr) return std::nullopt;
  const std::string* text = found->text();
  if (!style_.interpolates || text == nullptr || text->find("${") == std::string::npos)
    return wrap(*found, key);
  const Value all = resolved(machine);
  const Value* done = all.entries() == nullptr ? nullptr : all.entries()->find(key);
  return done == nullptr ? unknown(found->place) : wrap(*done, key);
}

Value AttributeDict::resolved(Machine& machine) const {
  if (!style_.interpolates) return held_.deep_copy();
  Value whole = root_.deep_copy();
  config::interpolate(machine.tree(), whole, environment_of(machine));
  const Value* mine = path_.empty() ? &whole : find_path(whole, path_);
  return mine == nullptr ? unknown(held_.place) : *mine;
}

std::optional<Value> AttributeDict::method(Machine&, std::string_view name) {
  const auto* const found =
      std::ranges::find(dict_methods, name, &std::pair<std::string_view, DictMethod>::first);
  if (found == std::end(dict_methods)) return std::nullopt;
  return native_function(
      style_.type + "." + std::string(name),
      [self = shared_from_this(), run = found->second](
          Machine& machine, const Arguments& arguments) { return run(machine, self, arguments); });
}

std::optional<Value> AttributeDict::attribute(Machine& machine, std::string_view name) {
  // A key called "items" or "values" is rarer than the method.
  if (auto found = method(machine, name)) return found;
  if (name == "copy") {
    return native_function(
        style_.type + ".copy", [self = shared_from_this()](Machine&, const Arguments& arguments) {
          return value_of(self->same_type(self->held_.deep_copy()), arguments.place);
        });
  }
  if (auto found = entry(machine, name)) return found;
  if (name == "__dict__") return held_;
  // OmegaConf's own book-keeping: the node was made from a dict, not from a dataclass.
  if (style_.interpolates && name == "_metadata") {
    Value data = Value::dict({});
    data.entries()->set("object_type", machine.resolve("dict"));
    return data;
  }
  if (name.starts_with("__")) return std::nullopt;
  if (style_.absent_is_none) return Value::none();
  if (style_.absent_is_dict) return wrap(entries().set(name, Value::dict({})), name);
  return std::nullopt;
}

bool AttributeDict::set_attribute(Machine& machine, std::string_view name, Value value) {
  const auto& dict = std::get<std::shared_ptr<Dict>>(held_.data);
  machine.set_entry(dict, name, style_.wraps_nested ? unwrapped(value) : std::move(value));
  return true;
}

std::optional<Value> AttributeDict::item(Machine& machine, const Value& key) {
  if (key.is_unknown()) return unknown();
  if (auto found = entry(machine, key_text(key))) return found;
  if (style_.absent_is_dict)
    return wrap(entries().set(key_text(key), Value::dict({})), key_text(key));
  return std::nullopt;
}

bool AttributeDict::set_item(Machine& machine, const Value& key, Value value) {
  if (key.is_unknown()) return false;
  return set_attribute(machine, key_text(key), std::move(value));
}

}  // namespace schedmate::python::natives
