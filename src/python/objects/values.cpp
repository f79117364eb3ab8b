// SPDX-License-Identifier: Apache-2.0
#include "python/objects/values.hpp"

namespace schedmate::python {
namespace {

/// Counts what writing the value out would visit; false once `left` is used up.
bool count_down(const Value& value, int& left, int depth) {
  constexpr int deepest = 100;
  if (--left < 0 || depth > deepest) return false;
  if (const List* list = value.items()) {
    for (const Value& item : *list) {
      if (!count_down(item, left, depth + 1)) return false;
    }
  } else if (const Dict* dict = value.entries()) {
    for (const auto& entry : dict->all()) {
      if (!count_down(entry.value, left, depth + 1)) return false;
    }
  }
  return true;
}

}  // namespace

std::size_t size_of(const Value& value) {
  if (const auto* text = value.text()) return text->size();
  if (const List* list = value.items()) return list->size();
  const Dict* dict = value.entries();
  return dict == nullptr ? 0 : dict->size();
}

bool is_bounded(const Value& value) {
  int left = 20'000;
  return count_down(value, left, 0);
}

Value derived(Value value, const PlacePtr& at, const PlacePtr& from) {
  if (!from || from == at || !at) {
    value.place = at ? at : from;
    return value;
  }
  auto place = std::make_shared<Place>(*at);
  place->from = from;
  value.place = std::move(place);
  return value;
}

std::vector<Value> possibilities(const Value& value) {
  const auto* open = std::get_if<Unknown>(&value.data);
  if (open == nullptr) return {value};
  if (open->may_be == nullptr || open->may_be->empty()) return {};
  for (const Value& each : *open->may_be) {
    if (each.is_unknown()) return {};
  }
  return *open->may_be;
}

const Value* only_object(const Value& value) {
  const auto* open = std::get_if<Unknown>(&value.data);
  if (open == nullptr || open->may_be == nullptr) return nullptr;
  const Value* only = nullptr;
  for (const Value& each : *open->may_be) {
    if (each.is_none() || each.is_unknown()) continue;
    if (only != nullptr) return nullptr;
    only = &each;
  }
  return only;
}

Value symbol(std::string name, PlacePtr place) {
  auto made = std::make_shared<Symbol>();
  made->name = std::move(name);
  return wrap(std::move(made), std::move(place));
}

}  // namespace schedmate::python
