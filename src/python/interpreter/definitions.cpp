// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ranges>

#include "python/interpreter/interpreter.hpp"
#include "python/natives/table.hpp"

namespace schedmate::python {
namespace {

Parameter::Kind kind_of(const Code& code) {
  if (code.kind == Kind::splat_pattern) return Parameter::Kind::star;
  if (code.kind == Kind::double_splat_pattern) return Parameter::Kind::double_star;
  return Parameter::Kind::plain;
}

constexpr std::size_t most_bases = 200;

/// Bases first, each class once, a class before its bases: Python's order where it is consistent.
void set_order(Class& type) {
  std::vector<Class*> all{&type};
  for (const Value& base : type.bases) {
    if (auto* parent = as<Class>(base))
      all.insert(all.end(), parent->order.begin(), parent->order.end());
  }
  // A chain of classes would cost the cube of its length; what is far up is seldom asked for.
  if (all.size() > most_bases) all.resize(most_bases);
  for (std::size_t i = 0; i < all.size(); ++i) {
    // The last mention counts, so that a shared base comes after all that extend it.
    if (std::find(all.begin() + static_cast<std::ptrdiff_t>(i) + 1, all.end(), all[i]) == all.end())
      type.order.push_back(all[i]);
  }
  for (const Class* each : type.order) {
    for (const Value& base : each->bases) {
      const auto* outside = as<Symbol>(base);
      const bool known = outside == nullptr || outside->name == "object" ||
                         outside->name == "abc.ABC" || outside->name.starts_with("typing.") ||
                         std::ranges::find(type.outside, outside->name) != type.outside.end();
      if (!known) type.outside.push_back(outside->name);
    }
  }
}

constexpr std::string_view enumerations[] = {"enum.Enum",    "enum.IntEnum",
                                             "enum.StrEnum", "enum.Flag",
                                             "enum.IntFlag", "transformers.utils.ExplicitEnum"};

bool is_enumeration(const Class& type) {
  return std::ranges::any_of(type.outside, [](const std::string& base) {
    return std::ranges::find(enumerations, base) != std::end(enumerations);
  });
}

/// Annotated names of a class body, in order.
std::vector<Parameter> read_fields(const Code* body, const Class& type) {
  std::vector<Parameter> fields;
  if (body == nullptr) return fields;
  for (const Code& statement : body->children) {
    const Code* what = statement.first();
    if (statement.kind != Kind::expression_statement || what == nullptr) continue;
    const Code* left = what->get(Field::left);
    const Code* annotation = what->get(Field::type);
    if (what->kind != Kind::assignment || left == nullptr || left->kind != Kind::identifier)
      continue;
    if (annotation == nullptr || annotation->text.find("ClassVar") != std::string_view::npos)
      continue;
    Parameter field;
    field.name = left->text;
    field.annotation = annotation->text;
    field.place = statement.source->place(statement.line);
    if (what->get(Field::right) != nullptr) {
      const Value* value = type.scope->names.find(field.name);
      field.fallback = value == nullptr ? Value{} : *value;
    }
    fields.push_back(std::move(field));
  }
  return fields;
}

/// Classes that projects copy from a library together with its file, recognised by the names of
/// methods that nobody else has: they stand for the library's own.
struct Copied {
  std::string_view name;
  std::array<std::string_view, 2> members;
  std::string_view original;
};
constexpr Copied copied_classes[] = {
    {"Config", {"fromfile", "_merge_a_into_b"}, "mmcv.Config"},
    {"DictAction", {"_parse_iterable", "_parse_int_float_bool"}, "mmcv.DictAction"},
    {"CfgNode", {"merge_from_list", "_decode_cfg_value"}, "yacs.config.CfgNode"}};

std::string_view original_of(const Class& type) {
  for (const Copied& copied : copied_classes) {
    const bool all = std::ranges::all_of(copied.members, [&](std::string_view member) {
      return type.scope->names.find(member) != nullptr;
    });
    if (type.name.ends_with(copied.name) && all) return copied.original;
  }
  return "";
}

}  // namespace

std::vector<Parameter> Interpreter::read_parameters(const Code* list) {
  std::vector<Parameter> all;
  if (list == nullptr) return all;
  bool keyword_only = false;
  for (const Code& code : list->children) {
    if (code.kind == Kind::keyword_separator) keyword_only = true;
    if (code.kind == Kind::keyword_separator || code.kind == Kind::positional_separator) continue;
    Parameter parameter;
    const Code* name = code.get(Field::name);
    // A typed parameter holds its name, or a starred one, as first child.
    const Code& inner = code.kind == Kind::typed_parameter && code.first() ? *code.first() : code;
    parameter.kind = kind_of(inner);
    if (name == nullptr) name = inner.kind == Kind::identifier ? &inner : inner.first();
    if (name == nullptr) continue;
    parameter.name = name->text;
    parameter.place = place(code);
    if (const Code* annotation = code.get(Field::type)) parameter.annotation = annotation->text;
    if (const Code* value = code.get(Field::value)) parameter.fallback = eval(*value);
    if (keyword_only && parameter.kind == Parameter::Kind::plain)
      parameter.kind = Parameter::Kind::keyword_only;
    keyword_only = keyword_only || parameter.kind == Parameter::Kind::star;
    all.push_back(std::move(parameter));
  }
  return all;
}

Value Interpreter::define_function(const Code& code) {
  auto function = std::make_shared<Function>();
  const Code* name = code.get(Field::name);
  function->name = name == nullptr ? "<lambda>" : name->text;
  function->code = &code;
  function->parameters = read_parameters(code.get(Field::parameters));
  function->closure = frame().scope;
  if (frame().scope->of_class) {
    function->owner = frame().building;
    // Names of the class body are not seen from its methods.
    function->closure = frame().scope->outer;
  } else if (frame().function != nullptr && name == nullptr) {
    function->owner = frame().function->owner;
  }
  return wrap(std::move(function), place(code));
}

Value Interpreter::define_class(const Code& code) {
  auto type = std::make_shared<Class>();
  classes_.push_back(type);
  const Code* name = code.get(Field::name);
  type->name = name == nullptr ? "" : name->text;
  type->place = place(code);
  type->file = code.source->path();
  if (const Code* bases = code.get(Field::superclasses)) {
    for (Value& base : eval_arguments(bases, type->place).positional) {
      const Value* only = only_object(base);
      type->bases.push_back(only == nullptr ? std::move(base) : Value(*only));
    }
  }
  set_order(*type);
  if (type->order.size() >= most_bases)
    tree_.degrade(fmt::format("{}: a class has more than {} bases; those beyond are left out",
                              type->file, most_bases));
  type->enumeration = is_enumeration(*type);
  type->scope = new_scope(frame().scope);
  type->scope->of_class = true;
  Frame body;
  body.scope = type->scope;
  body.building = type.get();
  body.class_name = type->name;
  body.name = frame().name;
  frames.push_back(std::move(body));
  execute_block(code.get(Field::body));
  frames.pop_back();
  if (flow == Flow::give_back) flow = Flow::next;
  if (const auto original = original_of(*type); !original.empty())
    return symbol(std::string(original), type->place);
  type->fields = read_fields(code.get(Field::body), *type);
  if (type->enumeration) make_members(type);
  Value made = wrap(type, type->place);
  for (std::size_t i = 1; i < type->order.size(); ++i) {
    const Value* hook = type->order[i]->scope->names.find("__init_subclass__");
    if (hook == nullptr || as<Class>(made) == nullptr) continue;
    Arguments arguments;
    arguments.positional.push_back(made);
    const auto* descriptor = as<Descriptor>(*hook);
    call(descriptor == nullptr ? Value(*hook) : descriptor->function, std::move(arguments));
    break;
  }
  return made;
}

void Interpreter::make_members(const std::shared_ptr<Class>& type) {
  std::vector<std::string> names;
  for (const auto& entry : type->scope->names.all()) {
    const bool plain = entry.value.object() == nullptr && !entry.key.starts_with("_");
    if (plain) names.push_back(entry.key);
  }
  std::int64_t number = 0;
  for (const auto& name : names) {
    auto member = make_thing(type.get());
    Value value = *type->scope->names.find(name);
    ++number;
    if (value.is_unknown()) value = Value(number, value.place);  // auto()
    const PlacePtr at = value.place;
    member->fields.set("name", Value(name, at));
    member->fields.set("value", std::move(value));
    type->scope->names.set(name, wrap(std::move(member), at));
  }
}

void Interpreter::execute_decorated(const Code& code) {
  const Code* definition = code.get(Field::definition);
  if (definition == nullptr) return;
  const Code* name = definition->get(Field::name);
  if (name == nullptr) return;
  Value what =
      definition->kind == Kind::function ? define_function(*definition) : define_class(*definition);
  std::vector<const Code*> decorators;
  for (const Code& child : code.children) {
    if (child.kind == Kind::decorator && child.first() != nullptr)
      decorators.push_back(child.first());
  }
  for (const Code* decorator : std::views::reverse(decorators))
    what = decorate(*decorator, std::move(what));
  set_name(name->text, std::move(what));
}

/// What a decorator leaves: its result where that is something to call, else what it was given.
Value Interpreter::decorate(const Code& code, Value what) {
  const Value decorator = eval(code);
  const auto* outside = as<Symbol>(decorator);
  const bool modelled = outside != nullptr && (find_builtin(outside->name) != nullptr ||
                                               natives::find_native(outside->name) != nullptr);
  const bool unknown =
      decorator.is_unknown() || as<Made>(decorator) != nullptr || (outside != nullptr && !modelled);
  if (unknown || flow != Flow::next) return what;
  Arguments arguments;
  arguments.positional.push_back(what);
  arguments.place = place(code);
  Value result = call(decorator, std::move(arguments));
  if (flow == Flow::raise) flow = Flow::next;
  const bool usable = result.object() != nullptr && as<Made>(result) == nullptr;
  return usable ? result : what;
}

}  // namespace schedmate::python
