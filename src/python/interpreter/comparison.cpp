// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>

#include "python/interpreter/interpreter.hpp"

namespace schedmate::python {
namespace {

using Answer = std::optional<bool>;

Answer negated(Answer answer) { return answer ? Answer(!*answer) : Answer(); }

bool is_plain_number(const Value& value) {
  return value.integer() != nullptr || value.real() != nullptr || value.boolean() != nullptr;
}

/// A constructor's result, distinguished from a function's by its capital letter.
bool is_constructed(const Made& made) {
  const auto dot = made.callee.rfind('.');
  const auto at = dot == std::string::npos ? 0 : dot + 1;
  return at < made.callee.size() && std::isupper(static_cast<unsigned char>(made.callee[at])) != 0;
}

Answer is_none(const Value& value) {
  if (value.is_none()) return true;
  if (value.is_unknown()) return std::nullopt;
  if (const auto* made = as<Made>(value); made != nullptr && !is_constructed(*made))
    return std::nullopt;
  if (as<OutsideMethod>(value) != nullptr) return std::nullopt;
  return false;
}

Answer equal_symbols(const Symbol& a, const Symbol& b) {
  const bool of_objects =
      a.name.find('(') != std::string::npos || b.name.find('(') != std::string::npos;
  return of_objects ? Answer() : Answer(a.name == b.name);
}

Answer equal_objects(const Value& a, const Value& b) {
  if (a.object() == b.object()) return true;
  const auto* left = as<Symbol>(a);
  const auto* right = as<Symbol>(b);
  if (left != nullptr && right != nullptr) return equal_symbols(*left, *right);
  const auto* one = as<Thing>(a);
  const auto* other = as<Thing>(b);
  const bool members = one != nullptr && other != nullptr && one->type_of != nullptr &&
                       one->type_of->enumeration && other->type_of == one->type_of;
  if (members) return false;
  const bool classes = as<Class>(a) != nullptr && as<Class>(b) != nullptr;
  const bool functions = as<Function>(a) != nullptr && as<Function>(b) != nullptr;
  return classes || functions ? Answer(false) : Answer();
}

template <class A, class B>
Answer ordered(std::string_view operation, const A& a, const B& b) {
  if (operation == "<") return a < b;
  if (operation == ">") return a > b;
  if (operation == "<=") return a <= b;
  if (operation == ">=") return a >= b;
  return std::nullopt;
}

Answer in_list(const List& list, const Value& value) {
  bool open = value.is_unknown();
  for (const Value& each : list) {
    const auto is = equal_values(each, value);
    if (is == true) return true;
    open = open || !is;
  }
  return open ? Answer() : Answer(false);
}

Answer same_type_equal(const Value& a, const Value& b) {
  if (const List* left = a.items()) {
    const List* right = b.items();
    if (left->size() != right->size()) return false;
    Answer all = true;
    for (std::size_t i = 0; i < left->size(); ++i) {
      const auto is = equal_values((*left)[i], (*right)[i]);
      if (is == false) return false;
      if (!is) all = std::nullopt;
    }
    return all;
  }
  if (a.entries() != nullptr) {
    if (a.entries()->size() != b.entries()->size()) return false;
    return same(a, b) ? Answer(true) : Answer();
  }
  return same(a, b);
}

}  // namespace

std::optional<bool> equal_values(const Value& a, const Value& b) {
  if (a.is_unknown() || b.is_unknown()) return std::nullopt;
  if (is_plain_number(a) && is_plain_number(b)) return *a.number() == *b.number();
  if (a.is_none() || b.is_none()) return is_none(a.is_none() ? b : a);
  const bool objects = a.object() != nullptr && b.object() != nullptr;
  if (objects) return equal_objects(a, b);
  // A member of a text enumeration equals its text.
  const auto* member = as<Thing>(a.object() != nullptr ? a : b);
  if (member != nullptr && member->type_of != nullptr && member->type_of->enumeration) {
    const Value* held = member->fields.find("value");
    return held == nullptr ? Answer() : equal_values(*held, a.object() != nullptr ? b : a);
  }
  if (a.object() != nullptr || b.object() != nullptr) return std::nullopt;
  if (a.data.index() != b.data.index()) return false;
  return same_type_equal(a, b);
}

std::optional<bool> Interpreter::contains(const Value& all, const Value& value) {
  if (auto method = special_method(all, "__contains__")) {
    Arguments arguments;
    arguments.positional.push_back(value);
    const Value answer = call(*method, std::move(arguments));
    if (answer.boolean() != nullptr) return *answer.boolean();
    if (as<NativeObject>(all) == nullptr) return std::nullopt;
  }
  const Value plain = as_plain(all);
  if (const auto* text = plain.text()) {
    if (value.text() == nullptr) return std::nullopt;
    return text->find(*value.text()) != std::string::npos;
  }
  if (const Dict* dict = plain.entries()) {
    if (value.is_unknown()) return std::nullopt;
    return dict->find(dict_key(value)) != nullptr;
  }
  if (const auto items = iterate(plain)) return in_list(*items, value);
  const auto* range = as<Range>(plain);
  if (range != nullptr && range->first && range->last && value.integer() != nullptr)
    return *value.integer() >= *range->first && *value.integer() < *range->last;
  return std::nullopt;
}

std::optional<bool> Interpreter::compare(std::string_view operation, const Value& a,
                                         const Value& b) {
  const bool open = a.is_unknown() || b.is_unknown();
  const bool within = operation == "in" || operation == "not in";
  if (open && !(within && !b.is_unknown() && possibilities(a).empty())) {
    const auto lefts = possibilities(a);
    const auto rights = possibilities(b);
    if (lefts.empty() || rights.empty() || lefts.size() * rights.size() > 16) return std::nullopt;
    Answer all = compare(operation, lefts[0], rights[0]);
    for (const Value& left : lefts) {
      for (const Value& right : rights) {
        if (compare(operation, left, right) != all) return std::nullopt;
      }
    }
    return all;
  }
  if (within) {
    const auto answer = contains(b, a);
    return operation == "in" ? answer : negated(answer);
  }
  const Value left = as_plain(a);
  const Value right = as_plain(b);
  if (operation == "==" || operation == "is") return equal_values(left, right);
  if (operation == "!=" || operation == "is not" || operation == "<>")
    return negated(equal_values(left, right));
  if (is_plain_number(left) && is_plain_number(right))
    return ordered(operation, *left.number(), *right.number());
  if (left.text() != nullptr && right.text() != nullptr)
    return ordered(operation, *left.text(), *right.text());
  return std::nullopt;
}

Value Interpreter::eval_comparison(const Code& code) {
  std::vector<const Code*> operands;
  std::vector<const Code*> operations;
  for (const Code& child : code.children)
    (child.field == Field::operators ? operations : operands).push_back(&child);
  if (operands.size() != operations.size() + 1 || operations.empty()) return {};
  Value left = eval(*operands[0]);
  const PlacePtr from = left.place;
  bool open = false;
  bool fails = false;
  for (std::size_t i = 0; i < operations.size() && !fails; ++i) {
    Value right = eval(*operands[i + 1]);
    const auto answer = compare(operations[i]->text, left, right);
    fails = answer == false;
    open = open || !answer;
    left = std::move(right);
  }
  if (open && !fails) return {Unknown{}, place(code)};
  return derived(Value(!fails), place(code), from);
}

std::optional<bool> Interpreter::truth(const Value& value) {
  if (value.is_unknown()) {
    const auto all = possibilities(value);
    if (all.empty()) return std::nullopt;
    const auto first = truth(all[0]);
    for (const Value& each : all) {
      if (truth(each) != first) return std::nullopt;
    }
    return first;
  }
  if (value.object() == nullptr) return value.truth();
  if (const auto* made = as<Made>(value)) return is_constructed(*made) ? Answer(true) : Answer();
  if (const auto* symbol = as<Symbol>(value)) {
    return seen_.imports.find(symbol->name) != nullptr ? Answer(true) : Answer();
  }
  if (const auto* range = as<Range>(value)) {
    const auto count = range->count();
    return count ? Answer(*count > 0) : Answer();
  }
  if (as<NativeObject>(value) != nullptr) {
    const Value plain = as_plain(value);
    return plain.object() == nullptr ? plain.truth() : Answer(true);
  }
  if (const auto* thing = as<Thing>(value)) {
    if (thing->type_of == nullptr) return true;
    const bool own = find_member(*thing->type_of, "__len__") != nullptr ||
                     find_member(*thing->type_of, "__bool__") != nullptr;
    return own ? Answer() : Answer(true);
  }
  return true;
}

}  // namespace schedmate::python
