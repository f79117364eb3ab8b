// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <ranges>

#include "python/interpreter/interpreter.hpp"
#include "python/natives/table.hpp"
#include "python/natives/typed_flags.hpp"

namespace schedmate::python {
namespace {

constexpr std::size_t most_instances = 20'000;

/// An object of a class that extends a modelled config class: that, with the class's own members.
Value extended(Interpreter& in, Class& type, const std::string& base, Arguments arguments) {
  const bool has_init = find_member(type, "__init__") != nullptr;
  Arguments none;
  none.place = arguments.place;
  Value made = (*natives::find_native(base))(in, has_init ? none : arguments);
  auto* object = as<NativeObject>(made);
  if (object == nullptr) return made;
  object->extension = class_value(&type);
  if (has_init) in.call(*in.special_method(made, "__init__"), std::move(arguments));
  return made;
}

}  // namespace

std::shared_ptr<Thing> make_thing(Class* type) {
  auto thing = std::make_shared<Thing>();
  thing->type_of = type;
  thing->type = type->name;
  thing->bases = type->outside;
  thing->file = type->file;
  return thing;
}

/// What the __init__ of a dataclass and its like does.
void Interpreter::fill_fields(const Value& self, Class& type, const Arguments& arguments) {
  Function like;
  for (const Class* base : std::views::reverse(type.order)) {
    for (const Parameter& field : base->fields) {
      const auto old = std::ranges::find(like.parameters, field.name, &Parameter::name);
      if (old == like.parameters.end()) {
        like.parameters.push_back(field);
      } else {
        *old = field;
      }
    }
  }
  for (Parameter& field : like.parameters) {
    if (field.fallback) field.fallback = natives::default_now(*this, *field.fallback);
    if (field.fallback && is_bounded(*field.fallback)) field.fallback = field.fallback->deep_copy();
  }
  Dict fields;
  bind_parameters(like, arguments, fields);
  // Open classes (SimpleNamespace, pydantic with extras) keep what is not declared.
  for (const auto& [key, value] : arguments.named.all()) fields.set(key, value);
  for (const auto& [key, value] : fields.all()) set_attribute(self, key, value);
  if (auto after = special_method(self, "__post_init__")) call(*after, {});
}

Value Interpreter::instantiate(const std::shared_ptr<Object>& object, Arguments arguments) {
  auto& type = static_cast<Class&>(*object);
  if (type.enumeration) {
    for (const auto& entry : type.scope->names.all()) {
      const auto* member = as<Thing>(entry.value);
      const Value* value = member == nullptr ? nullptr : member->fields.find("value");
      const bool is = value != nullptr && !arguments.positional.empty() &&
                      equal_values(*value, arguments.positional[0]) == true;
      if (is) return entry.value;
    }
    return {};
  }
  const auto base = std::ranges::find_if(type.outside, natives::is_extensible);
  if (base != type.outside.end()) return extended(*this, type, *base, std::move(arguments));
  auto thing = make_thing(&type);
  thing->place = arguments.place;
  thing->certain = certain();
  if (!frames.empty()) thing->builder = frame().class_name;
  const Value self = wrap(thing, arguments.place);
  if (seen_.instances.size() < most_instances) seen_.instances.push_back(thing);
  if (const Value* init = find_member(type, "__init__")) {
    call(bind(*init, self, &type), std::move(arguments));
    return self;
  }
  const bool fields =
      std::ranges::any_of(type.order, [](const Class* each) { return !each->fields.empty(); });
  if (fields) fill_fields(self, type, arguments);
  if (is_dict(*thing)) {
    OutsideMethod init;
    init.name = "dict";
    init.self = self;
    call_method_of_dict(init, arguments);
  } else if (!type.outside.empty() && !is_builtin_name(type.outside.front())) {
    make_base(self, type, arguments);
  }
  return self;
}

/// What the base outside the tree makes of an object; one that is modelled stays with it.
void Interpreter::make_base(const Value& self, const Class& type, const Arguments& arguments) {
  const std::string before = std::exchange(frame().class_name, type.name);
  if (const Native* native = natives::find_native(type.outside.front())) {
    const Value made = (*native)(*this, arguments);
    if (as<NativeObject>(made) != nullptr)
      journal.set(dict_within(owner_of(self), as<Thing>(self)->fields), base_field, made);
  } else {
    record(type.outside.front(), arguments);
  }
  frame().class_name = before;
}

Value Interpreter::instance(const Value& type_or_name, Dict fields) {
  if (auto* type = as<Class>(type_or_name)) {
    auto thing = make_thing(type);
    thing->fields = std::move(fields);
    if (seen_.instances.size() < most_instances) seen_.instances.push_back(thing);
    Value self = wrap(std::move(thing), type->place);
    if (auto after = special_method(self, "__post_init__")) call(*after, {});
    return self;
  }
  auto thing = std::make_shared<Thing>();
  if (const auto* name = type_or_name.text()) thing->type = *name;
  thing->fields = std::move(fields);
  return wrap(std::move(thing), type_or_name.place);
}

void Interpreter::set_default(const Value& callable, std::string_view parameter, Value value) {
  auto* function = as<Function>(callable);
  if (auto* type = as<Class>(callable)) {
    const Value* init = find_member(*type, "__init__");
    function = init == nullptr ? nullptr : as<Function>(*init);
    for (const Class* each : type->order) {
      const auto field = std::ranges::find(each->fields, parameter, &Parameter::name);
      if (function != nullptr || field == each->fields.end()) continue;
      Parameter own = *field;
      own.fallback = value;
      std::erase_if(type->fields, [&](const Parameter& old) { return old.name == parameter; });
      type->fields.push_back(std::move(own));
      type->scope->names.set(parameter, std::move(value));
      return;
    }
  }
  if (function == nullptr) return;
  const auto found = std::ranges::find(function->parameters, parameter, &Parameter::name);
  if (found != function->parameters.end()) found->fallback = std::move(value);
}

std::optional<FunctionView> Interpreter::function(const Value& value) {
  if (const auto* bound = as<BoundMethod>(value)) {
    auto view = function(bound->function);
    if (view && !view->parameters.empty()) view->parameters.erase(view->parameters.begin());
    return view;
  }
  if (const auto* descriptor = as<Descriptor>(value)) return function(descriptor->function);
  const auto* function = as<Function>(value);
  if (function == nullptr) return std::nullopt;
  return FunctionView{function->name, function->parameters, place(*function->code)};
}

std::optional<ClassView> Interpreter::type(const Value& value) {
  const auto* type = as<Class>(value);
  if (type == nullptr) return std::nullopt;
  ClassView view{type->name, type->file, type->outside, {}, type->place};
  for (auto base = type->order.rbegin(); base != type->order.rend(); ++base) {
    if (*base != type) view.bases.push_back((*base)->name);
    for (const Parameter& field : (*base)->fields) {
      const auto old = std::ranges::find(view.fields, field.name, &Parameter::name);
      if (old == view.fields.end()) {
        view.fields.push_back(field);
      } else {
        *old = field;
      }
    }
  }
  for (Parameter& field : view.fields) {
    if (field.fallback) field.fallback = natives::default_now(*this, *field.fallback);
  }
  return view;
}

Value type_of(const Value& value) {
  if (const auto* thing = as<Thing>(value))
    return thing->type_of == nullptr ? Value{} : class_value(thing->type_of);
  if (const auto* made = as<Made>(value)) return symbol(made->callee);
  if (value.text() != nullptr) return symbol("str");
  if (value.boolean() != nullptr) return symbol("bool");
  if (value.integer() != nullptr) return symbol("int");
  if (value.real() != nullptr) return symbol("float");
  if (value.items() != nullptr) return symbol("list");
  if (value.entries() != nullptr) return symbol("dict");
  if (value.is_none()) return symbol("NoneType");
  if (const auto* native = as<NativeObject>(value))
    return as<Class>(native->extension) != nullptr ? native->extension
                                                   : symbol(native->type_name());
  return {};
}

}  // namespace schedmate::python
