// SPDX-License-Identifier: Apache-2.0
#include "python/objects/native.hpp"

namespace schedmate::python {

const Value* Arguments::find(std::string_view name, std::size_t position) const {
  if (const Value* found = named.find(name)) return found;
  return position < positional.size() ? &positional[position] : nullptr;
}

std::optional<Value> NativeObject::item(Machine& machine, const Value& key) {
  const auto held = plain();
  if (!held) return std::nullopt;
  const Value* found = nullptr;
  if (const Dict* dict = held->entries(); dict != nullptr && key.text() != nullptr)
    found = dict->find(*key.text());
  (void)machine;
  return found == nullptr ? std::nullopt : std::optional(*found);
}

Value native_function(std::string name, Native run) {
  auto function = std::make_shared<NativeFunction>();
  function->name = std::move(name);
  function->run = std::move(run);
  return {std::shared_ptr<Object>(std::move(function)), {}};
}

}  // namespace schedmate::python
