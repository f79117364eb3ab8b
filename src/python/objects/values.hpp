// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What can be said of values without running anything.

#include "python/objects/objects.hpp"

namespace schedmate::python {

/// Everything a value may be: itself when known; empty when that is open.
[[nodiscard]] std::vector<code::Value> possibilities(const code::Value& value);
/// The one thing other than None among the possibilities; nullptr when there are more or none.
[[nodiscard]] const code::Value* only_object(const code::Value& value);
/// The value with the place `at`, from which `from` leads on to where its operand was written.
[[nodiscard]] code::Value derived(code::Value value, const code::PlacePtr& at,
                                  const code::PlacePtr& from);

/// Small enough, and without circles, to be written out or copied whole.
[[nodiscard]] bool is_bounded(const code::Value& value);
/// Items of a list or dict, letters of a text; 0 for all else.
[[nodiscard]] std::size_t size_of(const code::Value& value);

/// A whole number.
[[nodiscard]] inline code::Value whole(std::int64_t number, code::PlacePtr place = {}) {
  return {number, std::move(place)};
}
[[nodiscard]] code::Value symbol(std::string name, code::PlacePtr place = {});

}  // namespace schedmate::python
