// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "python/interpreter/builtins.hpp"

namespace schedmate::python {
namespace {

using Answer = std::optional<bool>;

Answer is_of_plain_type(const Value& value, std::string_view type) {
  if (type == "object") return true;
  if (type == "NoneType") return value.is_none();
  if (type == "str" || type == "basestring" || type == "bytes") return value.text() != nullptr;
  if (type == "bool") return value.boolean() != nullptr;
  if (type == "int") return value.integer() != nullptr || value.boolean() != nullptr;
  if (type == "float") return value.real() != nullptr;
  const bool of_items = type == "list" || type == "tuple" || type == "set" || type == "frozenset";
  const bool abstract = type.ends_with(".Sequence") || type.ends_with(".Iterable");
  if (of_items || abstract) return value.items() != nullptr;
  const bool mapping = type.ends_with("Mapping") || type.ends_with("OrderedDict");
  if (type == "dict" || mapping) return value.entries() != nullptr;
  if (type == "numbers.Number") return value.number() && value.text() == nullptr;
  return value.object() == nullptr ? Answer(false) : Answer();
}

/// Types of plain data, and those of config libraries that stand for them.
bool is_data_type(std::string_view type) {
  static constexpr std::string_view types[] = {"bool", "dict",  "float", "frozenset", "int",
                                               "list", "bytes", "set",   "str",       "tuple"};
  return std::ranges::find(types, type) != std::end(types) || type.starts_with("omegaconf.") ||
         type.ends_with("Mapping");
}

/// Functions, classes and modules, of the tree or outside, are no data.
bool is_no_data(const Value& value) {
  return as<Class>(value) != nullptr || as<Function>(value) != nullptr ||
         as<Module>(value) != nullptr || as<Symbol>(value) != nullptr;
}

/// Whether what extends `base` can be none of `type`: frameworks derive the second from the first
/// beside other things, and a class that meant it would extend it.
bool excludes(std::string_view base, std::string_view type) {
  constexpr std::pair<std::string_view, std::string_view> narrower[] = {
      {"torch.utils.data.Dataset", "torch.utils.data.IterableDataset"},
      {"torch.nn.Module", "torch.nn.DataParallel"},
      {"torch.nn.Module", "torch.nn.parallel.DistributedDataParallel"},
      {"torch.nn.Module", "torch.distributed.fsdp.FullyShardedDataParallel"},
  };
  return std::ranges::find(narrower, std::pair(base, type)) != std::end(narrower);
}

/// An object of a class of the tree that extends classes outside it.
Answer is_derived(const Class& type, std::string_view outside) {
  if (type.is_a(outside)) return true;
  if (type.outside.empty()) return outside == "object";
  const bool other = std::ranges::all_of(
      type.outside, [&](const std::string& base) { return excludes(base, outside); });
  return other ? Answer(false) : Answer();
}

Answer is_instance(Interpreter& in, const Value& value, const Value& type) {
  if (value.is_unknown() || type.is_unknown()) return std::nullopt;
  if (const List* types = type.items()) {
    bool open = false;
    for (const Value& each : *types) {
      const auto is = is_instance(in, value, each);
      if (is == true) return true;
      open = open || !is;
    }
    return open ? Answer() : Answer(false);
  }
  const auto* thing = as<Thing>(value);
  const auto* extended = as<NativeObject>(value);
  const auto* extension = extended == nullptr ? nullptr : as<Class>(extended->extension);
  if (const auto* own = as<Class>(type)) {
    if (extension != nullptr) return extension->is_a(own);
    if (thing != nullptr && thing->type_of != nullptr) return thing->type_of->is_a(own);
    return value.object() == nullptr ? Answer(false) : Answer();
  }
  const auto* outside = as<Symbol>(type);
  if (outside == nullptr) return std::nullopt;
  if (thing != nullptr && thing->type_of != nullptr)
    return is_derived(*thing->type_of, outside->name);
  if (const auto* made = as<Made>(value)) {
    if (made->callee == outside->name) return true;
    const bool plain = outside->name.find('.') == std::string::npos;
    return plain ? Answer(false) : Answer();
  }
  if (const auto* native = as<NativeObject>(value)) {
    if (native->type_name() == outside->name) return true;
    if (extension != nullptr && extension->is_a(outside->name)) return true;
    const bool no_dict = native->type_name() == "omegaconf.DictConfig" ||
                         native->type_name() == "argparse.Namespace";
    if (outside->name == "dict" && no_dict) return false;
    const auto plain = is_of_plain_type(in.as_plain(value), outside->name);
    return plain == true || is_data_type(outside->name) ? plain : Answer();
  }
  if (as<Class>(value) != nullptr && outside->name == "type") return true;
  if (is_data_type(outside->name) && is_no_data(value)) return false;
  return is_of_plain_type(value, outside->name);
}

Value answer_value(Answer answer, const PlacePtr& place) {
  return answer ? Value(*answer, place) : Value(Unknown{}, place);
}

Value isinstance(Interpreter& in, const Arguments& arguments) {
  if (arguments.positional.size() < 2) return {};
  return answer_value(is_instance(in, arguments.positional[0], arguments.positional[1]),
                      arguments.place);
}

Answer is_subclass(const Value& value, const Value& type) {
  if (const List* types = type.items()) {
    bool open = false;
    for (const Value& each : *types) {
      const auto is = is_subclass(value, each);
      if (is == true) return true;
      open = open || !is;
    }
    return open ? Answer() : Answer(false);
  }
  const auto* own = as<Class>(value);
  if (own == nullptr) return std::nullopt;
  if (const auto* other = as<Class>(type)) return own->is_a(other);
  const auto* outside = as<Symbol>(type);
  if (outside == nullptr) return std::nullopt;
  if (own->is_a(outside->name)) return true;
  return own->outside.empty() ? Answer(false) : Answer();
}

Value issubclass(Interpreter&, const Arguments& arguments) {
  if (arguments.positional.size() < 2) return {};
  return answer_value(is_subclass(arguments.positional[0], arguments.positional[1]),
                      arguments.place);
}

/// Whether the object surely has, or surely lacks, that attribute.
Answer has_attribute(Interpreter& in, const Value& of, std::string_view name) {
  if (of.is_unknown()) return std::nullopt;
  if (const auto* thing = as<Thing>(of)) {
    if (thing->fields.find(name) != nullptr) return true;
    if (thing->type_of == nullptr) return false;
    if (find_member(*thing->type_of, name) != nullptr) return true;
    const bool open =
        !thing->type_of->outside.empty() || find_member(*thing->type_of, "__getattr__") != nullptr;
    return open ? Answer() : Answer(false);
  }
  if (const auto* module = as<Module>(of)) {
    if (module->scope->names.find(name) != nullptr) return true;
    return module->scope->outside_stars.empty() ? Answer(false) : Answer();
  }
  if (auto* type = as<Class>(of)) {
    if (find_member(*type, name) != nullptr) return true;
    return type->outside.empty() ? Answer(false) : Answer();
  }
  if (auto* native = as<NativeObject>(of)) return native->attribute(in, name).has_value();
  if (const auto* function = as<Function>(of)) return function->attributes.find(name) != nullptr;
  if (of.object() != nullptr) return std::nullopt;
  if (const Dict* dict = of.entries())
    return is_data_method(of, name) || dict->find(name) != nullptr;
  return is_data_method(of, name);
}

Value hasattr(Interpreter& in, const Arguments& arguments) {
  if (arguments.positional.size() < 2 || arguments.positional[1].text() == nullptr) return {};
  const std::string name = *arguments.positional[1].text();
  return answer_value(has_attribute(in, arguments.positional[0], name), arguments.place);
}

Value getattr(Interpreter& in, const Arguments& arguments) {
  if (arguments.positional.size() < 2) return {};
  const Value& of = arguments.positional[0];
  const auto names = possibilities(arguments.positional[1]);
  const Value* fallback = argument_at(arguments, 2);
  if (names.empty() || names.size() > 8) return {Unknown{}, arguments.place};
  std::optional<Value> all;
  for (const Value& name : names) {
    if (name.text() == nullptr) return {};
    const auto has = has_attribute(in, of, *name.text());
    Value one = has == false && fallback != nullptr ? *fallback : in.attribute(of, *name.text());
    // Something that may have it is taken to have it, unless nothing comes of it.
    if (!has && fallback != nullptr && one.is_unknown()) one = joined(one, *fallback);
    if (one.object() != nullptr && name.place) one.place = name.place;
    all = all ? joined(*all, one) : one;
  }
  return *all;
}

Value setattr(Interpreter& in, const Arguments& arguments) {
  if (arguments.positional.size() < 3 || arguments.positional[1].text() == nullptr)
    return Value::none();
  in.set_attribute(arguments.positional[0], *arguments.positional[1].text(),
                   arguments.positional[2]);
  return Value::none();
}

Value vars(Interpreter& in, const Arguments& arguments) {
  const Value* given = argument_at(arguments, 0);
  if (given == nullptr) return {names_of(in.frame().scope), arguments.place};
  if (as<NativeObject>(*given) != nullptr) {
    const Value plain = in.as_plain(*given);
    return plain.entries() == nullptr ? Value{} : plain;
  }
  return in.attribute(*given, "__dict__");
}

Value dir(Interpreter& in, const Arguments& arguments) {
  const Value names = vars(in, arguments);
  const auto keys = in.iterate(names);
  return keys ? Value::list(*keys, arguments.place) : Value{};
}

Value type_builtin(Interpreter&, const Arguments& arguments) {
  return arguments.positional.size() == 1 ? type_of(arguments.positional[0]) : Value{};
}

Value callable(Interpreter&, const Arguments& arguments) {
  const Value* given = argument_at(arguments, 0);
  if (given == nullptr || given->is_unknown()) return {};
  if (given->object() == nullptr) return {false, arguments.place};
  const bool known = as<Function>(*given) != nullptr || as<Class>(*given) != nullptr ||
                     as<BoundMethod>(*given) != nullptr || as<Partial>(*given) != nullptr;
  return known ? Value(true, arguments.place) : Value(Unknown{}, arguments.place);
}

Value text_of(Interpreter& in, const Arguments& arguments) {
  const Value* given = argument_at(arguments, 0);
  if (given == nullptr) return {std::string(), arguments.place};
  bool known = true;
  std::string text = in.to_text(*given, &known);
  return known ? Value(std::move(text), given->place) : Value(Unknown{}, given->place);
}

Value repr_of(Interpreter& in, const Arguments& arguments) {
  const Value* given = argument_at(arguments, 0);
  const Value plain = given == nullptr ? Value{} : in.as_plain(*given);
  if (plain.is_unknown() || plain.object() != nullptr || !is_bounded(plain)) return {};
  return {repr(plain), given->place};
}

template <Descriptor::Kind kind>
Value describe(Interpreter&, const Arguments& arguments) {
  auto descriptor = std::make_shared<Descriptor>();
  descriptor->kind = kind;
  if (const Value* function = arguments.find("fget", 0)) descriptor->function = *function;
  if (const Value* setter = arguments.find("fset", 1)) descriptor->setter = *setter;
  return wrap(std::move(descriptor), arguments.place);
}

Value partial(Interpreter&, const Arguments& arguments) {
  if (arguments.positional.empty()) return {};
  auto made = std::make_shared<Partial>();
  made->callable = arguments.positional[0];
  made->arguments = arguments;
  made->arguments.positional.erase(made->arguments.positional.begin());
  return wrap(std::move(made), arguments.place);
}

/// functools.wraps(f)(g) is g.
Value wraps(Interpreter&, const Arguments&) {
  return native_function("wraps", [](Machine&, const Arguments& inner) {
    return inner.positional.empty() ? Value{} : inner.positional[0];
  });
}

template <class T>
Value is_kind(Interpreter&, const Arguments& arguments) {
  const Value* given = argument_at(arguments, 0);
  if (given == nullptr || given->is_unknown()) return {};
  if (as<T>(*given) != nullptr) return {true, arguments.place};
  return as<Symbol>(*given) == nullptr ? Value(false, arguments.place) : Value{};
}

Value nothing(Interpreter&, const Arguments&) { return Value::none(); }

}  // namespace

void add_object_builtins(BuiltinTable& table) {
  table["isinstance"] = isinstance;
  table["issubclass"] = issubclass;
  table["hasattr"] = hasattr;
  table["getattr"] = getattr;
  table["setattr"] = setattr;
  table["vars"] = vars;
  table["dir"] = dir;
  table["type"] = type_builtin;
  table["callable"] = callable;
  table["str"] = text_of;
  table["repr"] = repr_of;
  table["print"] = nothing;
  table["property"] = describe<Descriptor::Kind::property>;
  table["functools.cached_property"] = describe<Descriptor::Kind::property>;
  table["abc.abstractproperty"] = describe<Descriptor::Kind::property>;
  table["classmethod"] = describe<Descriptor::Kind::class_method>;
  table["staticmethod"] = describe<Descriptor::Kind::static_method>;
  table["inspect.isclass"] = is_kind<Class>;
  table["inspect.isfunction"] = is_kind<Function>;
  table["inspect.ismodule"] = is_kind<Module>;
  table["functools.partial"] = partial;
  table["functools.partialmethod"] = partial;
  table["functools.wraps"] = wraps;
}

}  // namespace schedmate::python
