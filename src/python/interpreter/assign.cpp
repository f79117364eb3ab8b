// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "python/interpreter/interpreter.hpp"

namespace schedmate::python {

void Interpreter::execute_assignment(const Code& code) {
  const Code* left = code.get(Field::left);
  const Code* right = code.get(Field::right);
  if (left == nullptr || right == nullptr) return;
  std::vector<const Code*> targets{left};
  // a = b = value nests to the right.
  while (right->kind == Kind::assignment) {
    const Code* inner = right->get(Field::left);
    if (inner != nullptr) targets.push_back(inner);
    right = right->get(Field::right);
    if (right == nullptr) return;
  }
  Value value = eval(*right);
  if (flow != Flow::next) return;
  if (!value.place) value.place = place(code);
  if (on_base && left->text == "_base_" && frames.size() == 1) on_base(value);
  for (const Code* target : targets) assign(*target, value);
}

void Interpreter::assign(const Code& target, Value value) {
  switch (target.kind) {
    case Kind::identifier:
      set_name(target.text, std::move(value));
      return;
    case Kind::attribute: {
      const Code* object = target.get(Field::object);
      const Code* name = target.get(Field::attribute);
      if (object != nullptr && name != nullptr)
        set_attribute(eval(*object), name->text, std::move(value));
      return;
    }
    case Kind::subscript: {
      const Code* object = target.get(Field::value);
      const Code* key = target.get(Field::subscript);
      if (object == nullptr || key == nullptr || key->kind == Kind::slice) return;
      const Value of = eval(*object);
      set_item(of, eval(*key), std::move(value));
      return;
    }
    case Kind::pattern_list:
    case Kind::tuple_pattern:
    case Kind::list_pattern:
    case Kind::tuple:
    case Kind::list:
    case Kind::expression_list:
      unpack(target, value);
      return;
    case Kind::parenthesized:
    case Kind::as_pattern_target:
    case Kind::splat_pattern:
      if (target.first() != nullptr) assign(*target.first(), std::move(value));
      return;
    default:
      return;
  }
}

void Interpreter::unpack(const Code& target, const Value& value) {
  const auto items = iterate(value);
  const std::size_t wanted = target.children.size();
  const auto star = std::ranges::find(target.children, Kind::splat_pattern, &Code::kind);
  const bool has_star = star != target.children.end();
  const bool fits = items && (has_star ? items->size() + 1 >= wanted : items->size() == wanted);
  if (!fits) {
    for (const Code& child : target.children) assign(child, {Unknown{}, value.place});
    return;
  }
  const std::size_t extra = has_star ? items->size() + 1 - wanted : 0;
  std::size_t at = 0;
  for (const Code& child : target.children) {
    if (child.kind != Kind::splat_pattern) {
      assign(child, (*items)[at++]);
      continue;
    }
    const auto begin = items->begin() + static_cast<std::ptrdiff_t>(at);
    assign(child, Value::list({begin, begin + static_cast<std::ptrdiff_t>(extra)}, value.place));
    at += extra;
  }
}

void Interpreter::execute_augmented(const Code& code) {
  const Code* left = code.get(Field::left);
  const Code* right = code.get(Field::right);
  const Code* operation = code.get(Field::operation);
  if (left == nullptr || right == nullptr || operation == nullptr) return;
  const Value old = eval(*left);
  const Value change = eval(*right);
  if (flow != Flow::next) return;
  const auto what = operation->text.substr(0, operation->text.size() - 1);
  // A list grows in place: whoever else holds it sees that.
  if (what == "+" && old.items() != nullptr) {
    const ListPtr list = std::get<ListPtr>(old.data);
    Arguments arguments;
    arguments.positional.push_back(change);
    call_method_of_data({old, {}, "extend"}, arguments);
    return;
  }
  const PlacePtr at = place(code);
  assign(*left, derived(binary(what, old, change), at, old.place ? old.place : change.place));
}

}  // namespace schedmate::python
