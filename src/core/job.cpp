// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <schedmate/job.hpp>

#include "base/check.hpp"

namespace schedmate {

std::string_view to_string(EndState state) {
  switch (state) {
    case EndState::completed:
      return "COMPLETED";
    case EndState::cancelled:
      return "CANCELLED";
    case EndState::failed:
      return "FAILED";
    case EndState::timeout:
      return "TIMEOUT";
    case EndState::node_fail:
      return "NODE_FAIL";
    case EndState::preempted:
      return "PREEMPTED";
    case EndState::requeued:
      return "REQUEUED";
    case EndState::out_of_memory:
      return "OUT_OF_MEMORY";
    case EndState::unknown:
      break;
  }
  return "UNKNOWN";
}

std::optional<EndState> end_state_named(std::string_view name) {
  for (const EndState state : known_end_states)
    if (to_string(state) == name) return state;
  return std::nullopt;
}

PairRate PackingTables::rate(std::uint32_t newcomer, std::uint32_t resident) const {
  if (newcomer == no_index || resident == no_index) return {};
  SCHEDMATE_CHECK(newcomer < profiles.size() && resident < profiles.size(), "profile in table");
  if (profiles[newcomer].interference_free || profiles[resident].interference_free) return {};
  return pairs[newcomer * profiles.size() + resident];
}

}  // namespace schedmate
