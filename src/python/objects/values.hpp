// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What can be said of values without running anything.

#include "python/objects/objects.hpp"

namespace schedmate::python {

/// Everything a value may be: itself when known; empty when that is open.
[[nodiscard]] std::vector<Value> possibilities(const Value& value);
/// The one thing other than None among the possibilities; nullptr when there are more or none.
[[nodiscard]] const Value* only_object(const Value& value);
/// The value with the place `at`, from which `from` leads on to where its operand was written.
[[nodiscard]] Value derived(Value value, const PlacePtr& at, const PlacePtr& from);

/// Small enough, and without circles, to be written out or copied whole.
[[nodiscard]] bool is_bounded(const Value& value);
/// Items of a list or dict, letters of a text; 0 for all else.
[[nodiscard]] std::size_t size_of(const Value& value);

/// A whole number.
[[nodiscard]] inline Value whole(std::int64_t number, PlacePtr place = {}) {
  return {number, std::move(place)};
}
[[nodiscard]] Value symbol(std::string name, PlacePtr place = {});

}  // namespace schedmate::python
