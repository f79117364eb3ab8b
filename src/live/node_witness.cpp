// SPDX-License-Identifier: Apache-2.0
#include "live/node_witness.hpp"

#include <set>

namespace schedmate::live {

bool are_two(std::span<const NodeWitness> witnesses, std::string_view node) {
  std::set<std::string_view> sources;
  bool one_is_solid = false;
  for (const NodeWitness& each : witnesses) {
    if (each.node != node) continue;
    sources.insert(each.source);
    one_is_solid = one_is_solid || (!each.is_weak() && each.source != "log");
  }
  return one_is_solid && sources.size() >= 2;
}

}  // namespace schedmate::live
