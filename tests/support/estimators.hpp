// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Estimators by their command-line name, for tests.

#include <schedmate/estimator.hpp>
#include <string_view>

namespace schedmate::testing {

inline Estimator estimator(std::string_view spec, const Trace& trace, std::uint64_t seed = 1) {
  return make_estimator(spec, {trace, seed}).value();
}

}  // namespace schedmate::testing
