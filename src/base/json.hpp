// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What every writer of JSON needs.

#include <optional>

namespace schedmate {

/// null for a value that is not there.
template <class Json, class Value>
[[nodiscard]] Json or_null(const std::optional<Value>& value) {
  return value ? Json(*value) : Json(nullptr);
}

}  // namespace schedmate
