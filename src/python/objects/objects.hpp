// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What a running program has beside plain values.

#include "python/objects/native.hpp"
#include "python/objects/source.hpp"

namespace schedmate::python {

/// The names of a module, a class body or a running function.
struct Scope {
  Dict names;
  std::shared_ptr<Scope> outer;    ///< where a name is looked for next; null for a module
  std::shared_ptr<Scope> globals;  ///< of the module; null when this is it
  std::vector<std::string_view> global_names, nonlocal_names;
  std::vector<std::string> outside_stars;  ///< modules that `from x import *` took all of
  bool of_class = false;
};
using ScopePtr = std::shared_ptr<Scope>;

struct Module : Object {
  std::string name;    ///< dotted
  std::string file;    ///< "" for a folder without __init__.py
  std::string folder;  ///< of its submodules; "" when it is no package
  ScopePtr scope = std::make_shared<Scope>();
};
using ModulePtr = std::shared_ptr<Module>;

/// A name of a module of the tree that is imported and was not used yet.
struct Deferred : Object {
  std::string module, name;
  bool busy = false;  ///< the module runs because of it
};

struct Class;

struct Function : Object {
  std::string name;
  const Code* code = nullptr;  ///< a function_definition or a lambda
  std::vector<Parameter> parameters;
  ScopePtr closure;
  Class* owner = nullptr;  ///< the class whose body it stands in
  Dict attributes;
  int calls = 0, active = 0;
  std::int64_t spent = 0;  ///< steps, with what it calls
};

struct Class : Object, std::enable_shared_from_this<Class> {
  std::string name;
  std::string file;
  PlacePtr place;
  ScopePtr scope;
  std::vector<Value> bases;
  std::vector<Class*> order;         ///< itself, then its bases of the tree as Python orders them
  std::vector<std::string> outside;  ///< bases outside the tree, of all classes in `order`
  std::vector<Parameter> fields;     ///< annotated names of its body
  bool enumeration = false;

  [[nodiscard]] bool is_a(const Class* other) const {
    for (const Class* each : order) {
      if (each == other) return true;
    }
    return false;
  }
  [[nodiscard]] bool is_a(std::string_view outside_name) const {
    for (const auto& each : outside) {
      if (each == outside_name || each.ends_with("." + std::string(outside_name))) return true;
    }
    return false;
  }
};

/// An object of a class of the tree, or of a made-up type (then without `type_of`).
struct Thing : Instance {
  Class* type_of = nullptr;
};

/// The field of a Thing that holds what the modelled base class of its class is: a parser.
inline constexpr std::string_view base_field = "<base>";

struct MadeThing : Made {
  Dict fields;  ///< what the program set on it
};

/// An attribute of something made outside, with the object it belongs to.
struct OutsideMethod : Symbol {
  Value self;
};

struct BoundMethod : Object {
  Value self, function;
};

struct Partial : Object {
  Value callable;
  Arguments arguments;
};

struct Descriptor : Object {
  enum class Kind : std::uint8_t { property, class_method, static_method } kind = Kind::property;
  Value function, setter;
};

struct Super : Object {
  Value self;                 ///< an instance or a class
  const Class* of = nullptr;  ///< whose order is followed
  std::size_t from = 0;       ///< first position in it
};

/// enumerate() or zip() of what cannot be listed: still a loop over `inner`.
struct Iteration : Object {
  Value inner;
};

/// range(): too long for a list as a rule.
struct Range : Object {
  std::optional<std::int64_t> first = 0, last;
  std::int64_t step = 1;
  Value start, bound;
  [[nodiscard]] std::optional<std::int64_t> count() const {
    if (!first || !last || step == 0) return std::nullopt;
    // In doubles: hostile ends must not overflow.
    const double span = static_cast<double>(*last) - static_cast<double>(*first);
    const double steps = span / static_cast<double>(step);
    if (steps <= 0) return 0;
    const double whole = steps > 9e15 ? 9e15 : steps;
    const auto floor = static_cast<std::int64_t>(whole);
    return static_cast<double>(floor) < whole ? floor + 1 : floor;
  }
};

/// The entry in a class or its bases in the tree, from a position of its order on; nullptr when
/// none has it.
[[nodiscard]] inline const Value* find_member(const Class& type, std::string_view name,
                                              std::size_t from = 0) {
  for (std::size_t i = from; i < type.order.size(); ++i) {
    if (const Value* found = type.order[i]->scope->names.find(name)) return found;
  }
  return nullptr;
}

template <class T>
[[nodiscard]] T* as(const Value& value) {
  return dynamic_cast<T*>(value.object());
}
template <class T>
[[nodiscard]] Value wrap(std::shared_ptr<T> object, PlacePtr place = {}) {
  return {std::static_pointer_cast<Object>(std::move(object)), std::move(place)};
}
/// The object of a value as an owner, for handles that point into it.
[[nodiscard]] inline std::shared_ptr<Object> owner_of(const Value& value) {
  const auto* held = std::get_if<std::shared_ptr<Object>>(&value.data);
  return held == nullptr ? nullptr : *held;
}
/// A dict that lives inside another object, as a handle that keeps the object alive.
template <class T>
[[nodiscard]] std::shared_ptr<Dict> dict_within(const std::shared_ptr<T>& owner, Dict& dict) {
  return {owner, &dict};
}

[[nodiscard]] inline Value class_value(Class* type) { return wrap(type->shared_from_this()); }
[[nodiscard]] inline std::shared_ptr<Dict> names_of(const ScopePtr& scope) {
  return dict_within(scope, scope->names);
}

}  // namespace schedmate::python
