// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <schedmate/result.hpp>
#include <stdexcept>
#include <type_traits>
#include <utility>

namespace schedmate::testing {

/// The value that a test or a benchmark cannot go on without; else it ends with the error's
/// message.
template <class T>
T need(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  if constexpr (!std::is_void_v<T>) return *std::move(result);
}

}  // namespace schedmate::testing
