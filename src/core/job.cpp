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
    case EndState::unknown:
      break;
  }
  return "UNKNOWN";
}

int sharing_score_of(const Profile& profile) {
  constexpr double heavy_memory_util_pct = 30.5;
  constexpr double light_gpu_util_pct = 25;
  if (profile.memory_util_pct > heavy_memory_util_pct) return 2;
  return profile.gpu_util_pct <= light_gpu_util_pct ? 0 : 1;
}

PairRate PackingTables::rate(std::uint32_t newcomer, std::uint32_t resident) const {
  if (newcomer == no_index || resident == no_index) return {};
  SCHEDMATE_CHECK(newcomer < profiles.size() && resident < profiles.size(), "profile in table");
  if (profiles[newcomer].interference_free || profiles[resident].interference_free) return {};
  return pairs[newcomer * profiles.size() + resident];
}

}  // namespace schedmate
