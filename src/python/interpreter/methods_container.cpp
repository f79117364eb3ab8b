// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include "python/interpreter/interpreter.hpp"

namespace schedmate::python {
namespace {

constexpr std::size_t most_items = 100'000;

/// A dict or list method at work; `at` is where results come to stand.
struct Use {
  Interpreter& in;
  const Arguments& arguments;
  [[nodiscard]] const Value* argument(std::size_t position) const {
    return position < arguments.positional.size() ? &arguments.positional[position] : nullptr;
  }
};

Value entry_of(const Dict::Entry& entry) {
  return Value::list({Value(entry.key, entry.value.place), entry.value}, entry.value.place);
}

Value dict_get(Use use, const DictPtr& dict) {
  const Value* key = use.argument(0);
  const Value* fallback = use.arguments.find("default", 1);
  if (key == nullptr || key->is_unknown())
    return key == nullptr ? Value{} : use.in.item(Value(dict), *key);
  const Value* found = dict->find(dict_key(*key));
  if (found != nullptr) return *found;
  return fallback == nullptr ? Value::none(key->place) : *fallback;
}

Value dict_pop(Use use, const DictPtr& dict) {
  const Value* key = use.argument(0);
  if (key == nullptr || key->is_unknown()) return {};
  const Value* found = dict->find(dict_key(*key));
  if (found == nullptr) return use.argument(1) == nullptr ? Value{} : *use.argument(1);
  Value held = *found;
  use.in.charge(dict->size());
  use.in.journal.erase(dict, dict_key(*key));
  return held;
}

Value dict_setdefault(Use use, const DictPtr& dict) {
  const Value* key = use.argument(0);
  if (key == nullptr || key->is_unknown()) return {};
  if (const Value* found = dict->find(dict_key(*key))) return *found;
  Value held = use.argument(1) == nullptr ? Value::none() : *use.argument(1);
  use.in.journal.set(dict, dict_key(*key), held);
  return held;
}

Value dict_update(Use use, const DictPtr& dict) {
  if (const Value* other = use.argument(0)) {
    const Value plain = use.in.as_plain(*other);
    if (const Dict* entries = plain.entries()) {
      const Dict copy = *entries;
      for (const auto& [key, value] : copy.all()) use.in.journal.set(dict, key, value);
    } else if (const List* pairs = plain.items()) {
      for (const Value& pair : *pairs) {
        const List* two = pair.items();
        if (two != nullptr && two->size() == 2 && !(*two)[0].is_unknown())
          use.in.journal.set(dict, dict_key((*two)[0]), (*two)[1]);
      }
    }
  }
  for (const auto& [key, value] : use.arguments.named.all()) use.in.journal.set(dict, key, value);
  return Value::none();
}

Value dict_clear(Use use, const DictPtr& dict) {
  use.in.journal.clear(dict);
  return Value::none();
}

Value dict_list(const Dict& dict, std::string_view what) {
  List items;
  for (const auto& entry : dict.all()) {
    if (what == "items") {
      items.push_back(entry_of(entry));
    } else {
      items.push_back(what == "keys" ? Value(entry.key, entry.value.place) : entry.value);
    }
  }
  return Value::list(std::move(items));
}

std::optional<Value> dict_method(Use use, const DictPtr& dict, std::string_view name) {
  if (name == "get") return dict_get(use, dict);
  if (name == "pop") return dict_pop(use, dict);
  if (name == "setdefault") return dict_setdefault(use, dict);
  if (name == "update") return dict_update(use, dict);
  if (name == "clear") return dict_clear(use, dict);
  if (name == "items" || name == "keys" || name == "values") return dict_list(*dict, name);
  if (name == "iteritems") return dict_list(*dict, "items");
  if (name == "copy") return Value::dict(*dict);
  if (name == "__contains__" && use.argument(0) != nullptr) {
    const auto is = use.in.contains(Value(dict), *use.argument(0));
    return is ? Value(*is) : Value{};
  }
  return std::nullopt;
}

Value list_extend(Use use, const ListPtr& list) {
  if (use.argument(0) == nullptr) return {};
  const auto more = use.in.iterate(*use.argument(0));
  use.in.journal.touch(list);
  if (!more) {
    list->emplace_back(Unknown{}, use.arguments.place);
  } else if (list->size() + more->size() <= most_items) {
    list->insert(list->end(), more->begin(), more->end());
  }
  return Value::none();
}

Value list_insert(Use use, const ListPtr& list) {
  const Value* at = use.argument(0);
  const Value* what = use.argument(1);
  if (at == nullptr || what == nullptr || at->integer() == nullptr) return {};
  const auto size = static_cast<std::int64_t>(list->size());
  const auto wanted = *at->integer() < 0 ? *at->integer() + size : *at->integer();
  use.in.journal.touch(list);
  list->insert(list->begin() + std::clamp<std::int64_t>(wanted, 0, size), *what);
  return Value::none();
}

Value list_pop(Use use, const ListPtr& list) {
  const auto size = static_cast<std::int64_t>(list->size());
  const Value* given = use.argument(0);
  if (given != nullptr && given->integer() == nullptr) return {};
  auto at = given == nullptr ? size - 1 : *given->integer();
  if (at < 0) at += size;
  if (at < 0 || at >= size) return {};
  use.in.journal.touch(list);
  Value held = (*list)[static_cast<std::size_t>(at)];
  list->erase(list->begin() + at);
  return held;
}

Value list_remove(Use use, const ListPtr& list) {
  if (use.argument(0) == nullptr) return {};
  const Value what = *use.argument(0);
  const auto found = std::ranges::find_if(
      *list, [&](const Value& each) { return equal_values(each, what) == true; });
  if (found == list->end()) return {};
  const auto at = found - list->begin();
  use.in.journal.touch(list);
  list->erase(list->begin() + at);
  return Value::none();
}

Value list_index(Use use, const List& list) {
  if (use.argument(0) == nullptr) return {};
  for (std::size_t i = 0; i < list.size(); ++i) {
    const auto is = equal_values(list[i], *use.argument(0));
    if (!is) return {};
    if (*is) return {static_cast<std::int64_t>(i)};
  }
  return {};
}

Value list_count(Use use, const List& list) {
  std::int64_t count = 0;
  for (const Value& each : list) {
    const auto is =
        use.argument(0) == nullptr ? std::nullopt : equal_values(each, *use.argument(0));
    if (!is) return {};
    count += *is ? 1 : 0;
  }
  return {count};
}

Value list_sort(Use use, const ListPtr& list) {
  const Value* key = use.arguments.named.find("key");
  const Value* reverse = use.arguments.named.find("reverse");
  use.in.journal.touch(list);
  use.in.sort(*list, key, reverse != nullptr && reverse->truth() == true);
  return Value::none();
}

std::optional<Value> list_change(Use use, const ListPtr& list, std::string_view name) {
  if (name == "append" || name == "add") {
    const Value* what = use.argument(0);
    if (what == nullptr || list->size() >= most_items) return Value::none();
    if (name == "add" && use.in.contains(Value(list), *what) == true) return Value::none();
    use.in.journal.touch(list);
    list->push_back(*what);
    return Value::none();
  }
  if (name == "extend" || name == "update") return list_extend(use, list);
  if (name == "insert") return list_insert(use, list);
  if (name == "pop") return list_pop(use, list);
  if (name == "remove" || name == "discard") return list_remove(use, list);
  if (name == "sort") return list_sort(use, list);
  if (name != "reverse" && name != "clear") return std::nullopt;
  use.in.journal.touch(list);
  if (name == "reverse") {
    std::ranges::reverse(*list);
  } else {
    list->clear();
  }
  return Value::none();
}

std::optional<Value> list_method(Use use, const ListPtr& list, std::string_view name) {
  if (auto changed = list_change(use, list, name)) return changed;
  if (name == "index") return list_index(use, *list);
  if (name == "count") return list_count(use, *list);
  if (name == "copy") return Value::list(*list);
  const bool sets = name == "union" || name == "intersection" || name == "difference";
  if (sets && use.argument(0) != nullptr) {
    const auto other = use.in.iterate(*use.argument(0));
    if (!other) return Value{};
    const auto* operation = name == "union" ? "|" : name == "difference" ? "-" : "&";
    return use.in.binary(operation, Value(list), Value::list(*other));
  }
  return std::nullopt;
}

constexpr std::string_view dict_methods[] = {"get",   "pop",  "setdefault", "update",    "clear",
                                             "items", "keys", "values",     "iteritems", "copy"};
constexpr std::string_view list_methods[] = {"append", "add",    "extend", "update",  "insert",
                                             "pop",    "remove", "sort",   "reverse", "clear",
                                             "index",  "count",  "copy",   "discard"};

}  // namespace

bool is_data_method(const Value& of, std::string_view name) {
  if (of.text() != nullptr) return is_text_method(name);
  if (of.entries() != nullptr)
    return std::ranges::find(dict_methods, name) != std::end(dict_methods);
  if (of.items() != nullptr) return std::ranges::find(list_methods, name) != std::end(list_methods);
  return false;
}

Value Interpreter::call_method_of_data(const Callee& callee, const Arguments& arguments) {
  const Value& self = callee.self;
  charge(size_of(self));
  std::optional<Value> result;
  if (const auto* text = self.text()) {
    if (callee.name == "format") return format_call(self, arguments);
    if (callee.name == "join" && !arguments.positional.empty()) {
      const auto parts = iterate(arguments.positional[0]);
      Arguments listed = arguments;
      if (parts) listed.positional[0] = Value::list(*parts);
      result = text_method(*text, "join", listed);
    } else {
      result = text_method(*text, callee.name, arguments);
    }
    if (result && !result->place) result->place = self.place;
    if (result && result->items() != nullptr) {
      for (Value& part : *result->items()) part.place = self.place;
    }
  } else if (const auto* dict = std::get_if<DictPtr>(&self.data)) {
    const DictPtr kept = *dict;
    result = dict_method({*this, arguments}, kept, callee.name);
    if (!result) {
      const Value* entry = kept->find(callee.name);
      if (entry != nullptr && entry->object() != nullptr) return call(Value(*entry), arguments);
    }
  } else if (const auto* list = std::get_if<ListPtr>(&self.data)) {
    const ListPtr kept = *list;
    result = list_method({*this, arguments}, kept, callee.name);
  } else if (callee.name == "item" || callee.name == "conjugate") {
    return self;
  }
  if (result) return std::move(*result);
  return self.entries() != nullptr || self.items() != nullptr
             ? record("?." + callee.name, arguments)
             : Value{};
}

bool is_dict(const Thing& thing) {
  static constexpr std::string_view dicts[] = {"dict", "collections.OrderedDict",
                                               "collections.UserDict", "collections.defaultdict"};
  if (thing.type_of == nullptr) return false;
  return std::ranges::any_of(thing.type_of->outside, [](const std::string& base) {
    return std::ranges::find(dicts, base) != std::end(dicts);
  });
}

/// What a class that is a dict inherits: its entries are its fields.
Value Interpreter::call_method_of_dict(const OutsideMethod& method, const Arguments& arguments) {
  auto owner = owner_of(method.self);
  const DictPtr entries = dict_within(owner, static_cast<Thing&>(*owner).fields);
  const auto dot = method.name.rfind("().");
  const std::string name = dot == std::string::npos ? "update" : method.name.substr(dot + 3);
  const Use use{*this, arguments};
  if (name == "__getitem__" || name == "__getattribute__" || name == "__getattr__") {
    const bool known = use.argument(0) != nullptr && !use.argument(0)->is_unknown();
    const Value* found = known ? entries->find(dict_key(*use.argument(0))) : nullptr;
    return found == nullptr ? Value{} : *found;
  }
  if (name == "__setitem__" || name == "__setattr__") {
    if (arguments.positional.size() == 2 && !arguments.positional[0].is_unknown())
      journal.set(entries, dict_key(arguments.positional[0]), arguments.positional[1]);
    return Value::none();
  }
  return dict_method(use, entries, name).value_or(Value{});
}

}  // namespace schedmate::python
