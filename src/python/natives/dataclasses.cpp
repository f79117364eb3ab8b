// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "python/natives/parts.hpp"
#include "python/natives/typed_flags.hpp"

namespace schedmate::python::natives {
namespace {

/// field(default=..., default_factory=...) stands for its default: the interpreter then needs no
/// knowledge of fields. Without default it is unknown.
Value field(Machine& machine, const Arguments& arguments) {
  for (const auto* const key : {"default", "factory", "default_factory"}) {
    const Value* given = arguments.named.find(key);
    if (given == nullptr || symbol_name(*given).ends_with("MISSING")) continue;
    if (key == std::string_view("default")) return *given;
    Value made = machine.call(*given, call_with({}, {}, arguments.place));
    if (made.is_unknown() && machine.function(*given)) {
      auto late = std::make_shared<LateDefault>();
      late->factory = *given;
      made = value_of(std::move(late));
    }
    return placed(std::move(made), arguments.place);
  }
  // pydantic.Field(3), attr.ib(3); `...` says required.
  if (!arguments.positional.empty()) return arguments.positional[0];
  return {};
}

}  // namespace

Value default_now(Machine& machine, const Value& fallback) {
  const auto* late = object_as<LateDefault>(fallback);
  if (late == nullptr) return fallback;
  return placed(machine.call(late->factory, call_with({}, {}, fallback.place)), fallback.place);
}

namespace {

Value as_dict(Machine& machine, const Value& value, int depth) {
  constexpr int most_nesting = 20;
  if (depth > most_nesting) return unknown(value.place);
  Value holder;
  if (const List* list = value.items()) {
    List copy;
    for (const Value& item : *list) copy.push_back(as_dict(machine, item, depth + 1));
    return Value::list(std::move(copy), value.place);
  }
  if (value.object() != nullptr && object_as<Instance>(value) == nullptr &&
      object_as<NativeObject>(value) == nullptr)
    return value;
  const Dict* dict = dict_of(value, holder);
  if (dict == nullptr) return value;
  Dict copy;
  for (const auto& [key, item] : dict->all()) copy.set(key, as_dict(machine, item, depth + 1));
  return Value::dict(std::move(copy), value.place);
}

Value to_dict(Machine& machine, const Arguments& arguments) {
  if (arguments.positional.empty()) return unknown(arguments.place);
  const Value& self = arguments.positional[0];
  Value holder;
  return dict_of(self, holder) == nullptr ? unknown(arguments.place) : as_dict(machine, self, 0);
}

Value class_of(Machine& machine, const Instance& instance) {
  std::string module = instance.file.substr(0, instance.file.rfind('.'));
  std::ranges::replace(module, '/', '.');
  return machine.resolve(module + "." + instance.type);
}

/// replace(obj, **changes), obj.copy(update=...), attr.evolve.
Value replace(Machine& machine, const Arguments& arguments) {
  const auto* instance =
      arguments.positional.empty() ? nullptr : object_as<Instance>(arguments.positional[0]);
  if (instance == nullptr) return unknown(arguments.place);
  Dict fields = instance->fields;
  for (const auto& [key, value] : arguments.named.all()) fields.set(key, value);
  return machine.instance(class_of(machine, *instance), std::move(fields));
}

/// The fields of a dataclass: objects with a name, a type and a default.
Value fields(Machine& machine, const Arguments& arguments) {
  if (arguments.positional.empty()) return unknown(arguments.place);
  const Value& target = arguments.positional[0];
  const auto* instance = object_as<Instance>(target);
  const auto view = machine.type(instance == nullptr ? target : class_of(machine, *instance));
  if (!view) return unknown(arguments.place);
  List list;
  for (const Parameter& each : view->fields) {
    Dict entries;
    entries.set("name", Value(each.name, each.place));
    entries.set("type", Value(each.annotation, each.place));
    entries.set("default", each.fallback.value_or(Value{}));
    list.push_back(machine.instance(Value("dataclasses.Field"), std::move(entries)));
  }
  return Value::list(std::move(list), arguments.place);
}

/// Whether an object or class has fields; nothing else is a dataclass.
Value is_dataclass(Machine& machine, const Arguments& arguments) {
  if (arguments.positional.empty() || arguments.positional[0].is_unknown())
    return unknown(arguments.place);
  const Value& target = arguments.positional[0];
  const auto* instance = object_as<Instance>(target);
  const auto view = machine.type(instance == nullptr ? target : class_of(machine, *instance));
  return Value(view && !view->fields.empty(), arguments.place);
}

/// pydantic: Model.parse_obj(d), model_validate(d): the class comes first.
Value from_dict(Machine& machine, const Arguments& arguments) {
  if (arguments.positional.size() < 2) return unknown(arguments.place);
  Value holder;
  const Dict* dict = dict_of(arguments.positional[1], holder);
  if (dict == nullptr) return unknown(arguments.place);
  return machine.call(arguments.positional[0], call_with({}, *dict, arguments.place));
}

}  // namespace

}  // namespace schedmate::python::natives

void schedmate::python::natives::add_dataclasses(NativeTable& table) {
  namespace n = natives;
  for (const auto* const name :
       {"dataclasses.dataclass", "attr.s", "attr.attrs", "attr.dataclass", "attrs.define",
        "attrs.frozen", "attr.define", "attrs.mutable", "pydantic.dataclasses.dataclass",
        "flax.struct.dataclass", "chex.dataclass", "dataclasses_json.dataclass_json",
        "pydantic.validator", "pydantic.field_validator", "pydantic.root_validator",
        "pydantic.model_validator"})
    table[name] = n::returns_first_argument;
  for (const auto* const name :
       {"dataclasses.field", "attr.ib", "attr.attrib", "attrs.field", "pydantic.Field",
        "simple_parsing.field", "simple_parsing.mutable_field", "pyrallis.field",
        "simple_parsing.helpers.field", "flax.struct.field", "transformers.hf_argparser.HfArg"})
    table[name] = n::field;
  for (const auto* const name :
       {"dataclasses.asdict", "attr.asdict", "attrs.asdict", "pydantic.BaseModel.dict",
        "pydantic.BaseModel.model_dump", "pyrallis.encode", "draccus.encode",
        "transformers.TrainingArguments.to_dict"})
    table[name] = n::to_dict;
  for (const auto* const name : {"dataclasses.replace", "attr.evolve", "attrs.evolve"})
    table[name] = n::replace;
  for (const auto* const name :
       {"pydantic.BaseModel.parse_obj", "pydantic.BaseModel.model_validate"})
    table[name] = n::from_dict;
  table["dataclasses.fields"] = n::fields;
  table["dataclasses.is_dataclass"] = n::is_dataclass;
  // simple_parsing.mutable_field(list, ...) and the like: the factory comes first.
  for (const auto* const name : {"simple_parsing.mutable_field", "pyrallis.mutable_field",
                                 "simple_parsing.helpers.mutable_field"})
    table[name] = [](Machine& machine, const Arguments& arguments) {
      if (arguments.positional.empty()) return code::Value{};
      return machine.call(arguments.positional[0],
                          n::call_with({}, arguments.named, arguments.place));
    };
  n::add_hf_parsers(table);
}
