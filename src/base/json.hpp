// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What every writer of JSON needs.

#include <nlohmann/json.hpp>
#include <optional>

namespace schedmate {

/// null for a value that is not there.
template <class Value>
[[nodiscard]] nlohmann::ordered_json or_null(const std::optional<Value>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
}

}  // namespace schedmate
