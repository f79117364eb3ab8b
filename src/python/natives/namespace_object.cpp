// SPDX-License-Identifier: Apache-2.0
#include "python/natives/namespace_object.hpp"

namespace schedmate::python::natives {

void FlagNamespace::put(std::string_view name, Value value, std::optional<std::size_t> index) {
  entries().set(name, std::move(value));
  if (index) flags_.insert_or_assign(std::string(name), *index);
}

void FlagNamespace::mark(Machine& machine, std::string_view name) const {
  const auto found = flags_.find(name);
  if (found != flags_.end() && found->second < machine.seen().flags.size())
    machine.seen().flags[found->second].read = true;
}

std::optional<Value> FlagNamespace::attribute(Machine& machine, std::string_view name) {
  mark(machine, name);
  return AttributeDict::attribute(machine, name);
}

std::optional<Value> FlagNamespace::item(Machine& machine, const Value& key) {
  mark(machine, key_text(key));
  return AttributeDict::item(machine, key);
}

bool FlagNamespace::set_attribute(Machine& machine, std::string_view name, Value value) {
  const auto found = flags_.find(name);
  auto& flags = machine.seen().flags;
  if (found != flags_.end() && found->second < flags.size() && machine.certain()) {
    Value& current = flags[found->second].value;
    if (value.place && !code::comes_from(value.place, current.place.get())) current = value;
  }
  return AttributeDict::set_attribute(machine, name, std::move(value));
}

std::optional<Value> FlagNamespace::method(Machine& machine, std::string_view name) {
  // A Namespace has no methods of a dict, and flags called "items" or "update" exist.
  if (entries().find(name) != nullptr) return std::nullopt;
  if (name == "_get_kwargs") return AttributeDict::method(machine, "items");
  return AttributeDict::method(machine, name);
}

}  // namespace schedmate::python::natives
