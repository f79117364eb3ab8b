// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Sia (SOSP 2023; docs/decisions/0016-elastic.md): each round the GPUs go where they add most
/// goodput, by an allocation that is solved to its proven optimum.

#include <cstdint>

#include "elastic/goodput_row.hpp"
#include "elastic/rounds.hpp"

namespace schedmate::elastic {

struct SiaOptions {
  double power = -0.5;   ///< of goodputs: below 0 fair, above 0 fast
  double without = 1.1;  ///< of a job that gets nothing
  RowOptions row{};
  bool measure_in_turn = true;  ///< one GPU type after the other, else all at once
  std::uint64_t ties = 0;       ///< equal allocations are distinguished by this seed; 0 = by order
};

[[nodiscard]] ElasticPolicy sia_policy(const SiaOptions& options);

}  // namespace schedmate::elastic
