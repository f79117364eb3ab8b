// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "python/interpreter/interpreter.hpp"

namespace schedmate::python {
namespace {

constexpr std::size_t longest_range = 4096;

constexpr std::string_view builtin_names[] = {"ArithmeticError",
                                              "AssertionError",
                                              "AttributeError",
                                              "BaseException",
                                              "Ellipsis",
                                              "EnvironmentError",
                                              "Exception",
                                              "FileExistsError",
                                              "FileNotFoundError",
                                              "IOError",
                                              "ImportError",
                                              "IndexError",
                                              "KeyError",
                                              "KeyboardInterrupt",
                                              "LookupError",
                                              "MemoryError",
                                              "ModuleNotFoundError",
                                              "NameError",
                                              "NotImplemented",
                                              "NotImplementedError",
                                              "OSError",
                                              "OverflowError",
                                              "PermissionError",
                                              "RuntimeError",
                                              "StopIteration",
                                              "SystemExit",
                                              "TimeoutError",
                                              "TypeError",
                                              "UnicodeDecodeError",
                                              "UserWarning",
                                              "ValueError",
                                              "Warning",
                                              "ZeroDivisionError",
                                              "__import__",
                                              "bytearray",
                                              "classmethod",
                                              "compile",
                                              "complex",
                                              "frozenset",
                                              "id",
                                              "input",
                                              "memoryview",
                                              "object",
                                              "open",
                                              "property",
                                              "staticmethod",
                                              "unicode",
                                              "xrange",
                                              "DeprecationWarning",
                                              "FutureWarning",
                                              "ConnectionError"};

bool contains_name(const std::vector<std::string_view>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

/// What a dict has under any of the keys that may be meant.
Value one_of_entries(const Dict& dict, const Value& key) {
  const auto keys = possibilities(key);
  std::optional<Value> all;
  for (const Value& each : keys) {
    const Value* found = dict.find(dict_key(each));
    if (found != nullptr) all = all ? joined(*all, *found) : *found;
  }
  return all ? *all : Value{};
}

}  // namespace

bool is_builtin_name(std::string_view name) {
  return std::ranges::find(builtin_names, name) != std::end(builtin_names);
}

std::string dict_key(const Value& key) {
  if (const auto* text = key.text()) return *text;
  if (const auto* symbol = as<Symbol>(key)) return symbol->name;
  if (const auto* type = as<Class>(key))
    return fmt::format("<class {}:{}>", type->file, type->name);
  if (const auto* function = as<Function>(key)) return fmt::format("<function {}>", function->name);
  if (const auto* thing = as<Thing>(key)) {
    const Value* name = thing->fields.find("name");
    const bool member = name != nullptr && name->text() != nullptr;
    return fmt::format("<{}.{}>", thing->type, member ? *name->text() : "");
  }
  if (!is_bounded(key)) return "?";
  if (const List* list = key.items()) {
    std::string text = "(";
    for (const Value& each : *list) text += (text.size() > 1 ? ", " : "") + repr(each);
    return text + ")";
  }
  return repr(key);
}

ScopePtr Interpreter::new_scope(ScopePtr outer) {
  auto scope = std::make_shared<Scope>();
  scope->globals = outer->globals ? outer->globals : outer;
  scope->outer = std::move(outer);
  scopes_.push_back(scope);
  return scope;
}

const Value* Interpreter::find_name(std::string_view name) {
  const ScopePtr& here = frame().scope;
  if (contains_name(here->global_names, name)) {
    const auto& globals = here->globals ? here->globals : here;
    return found_in(globals->names, name);
  }
  bool inner = true;
  for (Scope* scope = here.get(); scope != nullptr; scope = scope->outer.get()) {
    // Methods do not see the names of the class body around them.
    if (!scope->of_class || inner) {
      if (const Value* found = found_in(scope->names, name)) return found;
    }
    inner = false;
  }
  return nullptr;
}

void Interpreter::set_name(std::string_view name, Value value) {
  const ScopePtr& here = frame().scope;
  if (here->globals && contains_name(here->global_names, name)) {
    journal.set(names_of(here->globals), name, std::move(value));
    return;
  }
  if (contains_name(here->nonlocal_names, name)) {
    for (ScopePtr scope = here->outer; scope; scope = scope->outer) {
      if (scope->names.find(name) == nullptr) continue;
      journal.set(names_of(scope), name, std::move(value));
      return;
    }
  }
  journal.set(names_of(here), name, std::move(value));
}

Value Interpreter::as_plain(const Value& value) {
  if (auto* thing = as<Thing>(value); thing != nullptr && is_dict(*thing))
    return {dict_within(owner_of(value), thing->fields), value.place};
  auto* object = as<NativeObject>(value);
  if (object == nullptr) return value;
  const auto plain = object->plain();
  return plain ? *plain : value;
}

std::optional<List> Interpreter::iterate(const Value& value) {
  const Value plain = as_plain(value);
  charge(size_of(plain));
  if (const List* list = plain.items()) return *list;
  if (const Dict* dict = plain.entries()) {
    List keys;
    for (const auto& entry : dict->all())
      keys.emplace_back(entry.key, entry.value.place ? entry.value.place : value.place);
    return keys;
  }
  if (const auto* text = plain.text()) {
    if (text->size() > longest_range) return std::nullopt;
    List letters;
    for (const char letter : *text) letters.emplace_back(std::string(1, letter), value.place);
    return letters;
  }
  if (const auto* range = as<Range>(plain)) {
    const auto count = range->count();
    if (!count || *count > static_cast<std::int64_t>(longest_range)) return std::nullopt;
    List numbers;
    for (std::int64_t i = 0; i < *count; ++i)
      numbers.emplace_back(*range->first + i * range->step, range->bound.place);
    return numbers;
  }
  if (const auto* type = as<Class>(plain); type != nullptr && type->enumeration) {
    List members;
    for (const auto& entry : type->scope->names.all()) {
      if (as<Thing>(entry.value) != nullptr) members.push_back(entry.value);
    }
    return members;
  }
  if (const auto* thing = as<Thing>(plain); thing != nullptr && thing->type_of != nullptr) {
    if (auto method = special_method(plain, "__iter__")) {
      const Value items = call(*method, {});
      if (items.items() != nullptr && as<Thing>(items) == nullptr) return *items.items();
    }
    const Value* children = thing->fields.find("");
    if (children != nullptr && children->items() != nullptr) return *children->items();
  }
  return std::nullopt;
}

Value Interpreter::item(const Value& of, const Value& key) {
  if (auto* object = as<NativeObject>(of)) {
    if (auto found = object->item(*this, key)) return *found;
    const Value plain = as_plain(of);
    return plain.entries() != nullptr || plain.items() != nullptr ? item(plain, key) : Value{};
  }
  if (const Dict* dict = of.entries()) {
    if (key.is_unknown()) return one_of_entries(*dict, key);
    const Value* found = dict->find(dict_key(key));
    return found == nullptr ? Value{} : *found;
  }
  if (const List* list = of.items()) {
    if (key.is_unknown() || key.integer() == nullptr) return {};
    const auto size = static_cast<std::int64_t>(list->size());
    const auto at = *key.integer() < 0 ? *key.integer() + size : *key.integer();
    return at >= 0 && at < size ? (*list)[static_cast<std::size_t>(at)] : Value{};
  }
  if (of.text() != nullptr && key.integer() != nullptr) {
    const auto at = *key.integer();
    return sliced(of, {at, at == -1 ? std::optional<std::int64_t>() : at + 1, 1});
  }
  if (const auto* type = as<Class>(of)) {
    if (!type->enumeration || key.text() == nullptr) return of;  // Generic[T]
    const Value* member = type->scope->names.find(*key.text());
    return member == nullptr ? Value{} : *member;
  }
  if (const auto* range = as<Range>(of)) {
    const bool known = range->first && key.integer() != nullptr && *key.integer() >= 0;
    const bool inside = known && *key.integer() < range->count().value_or(0);
    return inside ? Value(*range->first + *key.integer() * range->step) : Value{};
  }
  if (const auto* outside = as<Symbol>(of);
      outside != nullptr && as<OutsideMethod>(of) == nullptr) {
    constexpr std::string_view names = ".__dict__";
    const List* parts = key.items();
    const bool marks = outside->name.starts_with("tyro.conf.") ||
                       (outside->name == "typing.Annotated" && parts != nullptr);
    // Annotated[T, ...] is a T with something said of it.
    if (marks) return parts != nullptr && !parts->empty() ? Value(parts->front()) : key;
    if (!outside->name.ends_with(names)) return of;  // List[int], Optional[str]
    const auto module = outside->name.substr(0, outside->name.size() - names.size());
    return key.text() == nullptr ? Value{} : attribute(symbol(module), *key.text());
  }
  if (auto method = special_method(of, "__getitem__")) {
    Arguments arguments;
    arguments.positional.push_back(key);
    return call(*method, std::move(arguments));
  }
  const Value plain = as_plain(of);
  const bool holds = plain.entries() != nullptr || plain.items() != nullptr;
  return holds ? item(plain, key) : Value{};
}

void Interpreter::set_item(const Value& of, const Value& key, Value value) {
  if (auto* object = as<NativeObject>(of)) {
    object->set_item(*this, key, std::move(value));
    return;
  }
  if (const auto* dict = std::get_if<DictPtr>(&of.data)) {
    if (!key.is_unknown()) journal.set(*dict, dict_key(key), std::move(value));
    return;
  }
  if (const auto* list = std::get_if<ListPtr>(&of.data)) {
    if (key.integer() == nullptr) return;
    const auto size = static_cast<std::int64_t>((*list)->size());
    const auto at = *key.integer() < 0 ? *key.integer() + size : *key.integer();
    if (at < 0 || at >= size) return;
    journal.touch(*list);
    (**list)[static_cast<std::size_t>(at)] = std::move(value);
    return;
  }
  if (auto method = special_method(of, "__setitem__")) {
    Arguments arguments;
    arguments.positional = {key, std::move(value)};
    call(*method, std::move(arguments));
    return;
  }
  const Value plain = as_plain(of);
  if (plain.entries() != nullptr) set_item(plain, key, std::move(value));
}

}  // namespace schedmate::python
