// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Actions for tests.

#include <schedmate/action.hpp>

namespace schedmate::testing {

/// Planned, and no more.
inline Action made_action(std::int64_t id, ActionCall call, Mode mode = Mode::act) {
  return {
      .id = id,
      .call = std::move(call),
      .why = {"a line of a log", "a witness"},
      .mode = mode,
      .steps = {{.state = ActionState::planned, .when = at(5), .by = "schedmate", .note = "n"}}};
}

}  // namespace schedmate::testing
