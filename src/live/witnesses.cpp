// SPDX-License-Identifier: Apache-2.0
#include "live/witnesses.hpp"

#include <algorithm>
#include <utility>

namespace schedmate::live {

void Witnesses::add(NodeWitness witness, SimTime now) {
  witness.when = std::min(witness.when, now);  // nobody has seen what is to come
  if (witness.node.empty() || witness.when < now - longest) return;
  forget(now);
  if (nodes_.size() >= most_nodes && !nodes_.contains(witness.node)) {
    // Rare: more nodes are ill than most clusters have.
    const auto oldest = std::ranges::min_element(
        nodes_, {}, [](const auto& each) { return each.second.back().when; });
    nodes_.erase(oldest);
  }
  auto& of_node = nodes_[witness.node];
  const auto same = std::ranges::find_if(of_node, [&](const NodeWitness& each) {
    return each.source == witness.source && each.says == witness.says;
  });
  if (same != of_node.end()) {
    witness.when = std::max(witness.when, same->when);
    of_node.erase(same);
  }
  const auto later = std::ranges::upper_bound(of_node, witness.when, {}, &NodeWitness::when);
  of_node.insert(later, std::move(witness));
  if (of_node.size() > most_of_a_node) of_node.pop_front();
}

std::vector<NodeWitness> Witnesses::of(const std::string& node, SimTime since) const {
  const auto found = nodes_.find(node);
  if (found == nodes_.end()) return {};
  const auto first = std::ranges::lower_bound(found->second, since, {}, &NodeWitness::when);
  return {first, found->second.end()};
}

/// Now and then, so that it costs next to nothing.
void Witnesses::forget(SimTime now) {
  constexpr Seconds often{60};
  if (forgot_ != SimTime::min() && now < forgot_ + often) return;
  forgot_ = now;
  for (auto& [node, of_node] : nodes_)
    while (!of_node.empty() && of_node.front().when < now - longest) of_node.pop_front();
  std::erase_if(nodes_, [](const auto& each) { return each.second.empty(); });
}

}  // namespace schedmate::live
