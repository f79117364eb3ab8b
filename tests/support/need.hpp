// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <schedmate/result.hpp>
#include <stdexcept>
#include <utility>

namespace schedmate::testing {

/// The value that a test cannot go on without; else the test ends with the error's message.
template <class T>
T need(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  return *std::move(result);
}

}  // namespace schedmate::testing
