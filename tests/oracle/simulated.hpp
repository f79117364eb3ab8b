// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Gives an oracle's input to the simulator and compares what the two make of it.

#include <string>
#include <string_view>

#include "tick_model.hpp"

namespace oracle {

struct Run {
  TickPolicy policy = TickPolicy::fifo;
  Mode mode = Mode::reference;
};
[[nodiscard]] std::string_view name_of(TickPolicy policy);
[[nodiscard]] std::string_view name_of(Mode mode);

/// One line for each job whose outcome differs in any field (doubles to the last bit), and one if
/// the profiler scaled differently; "" when all is equal.
[[nodiscard]] std::string differences(const TickInput& input, Run run);

/// All fields of an outcome, for messages.
[[nodiscard]] std::string describe(const TickOutcome& outcome);

}  // namespace oracle
