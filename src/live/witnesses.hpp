// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Who said lately that a node is bad, besides the logs of jobs. Bounded in time and number; not
/// kept over restarts: whoever has something to say says it again.

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "live/actions.hpp"

namespace schedmate::live {

class Witnesses {
 public:
  static constexpr std::size_t most_of_a_node = 32;  ///< the latest ones
  static constexpr std::size_t most_nodes = 20'000;  ///< those that were heard of last
  static constexpr Seconds longest{3600};            ///< older ones are forgotten

  /// The same words of the same source count once, with the latest time.
  void add(NodeWitness witness, SimTime now);
  /// Those that spoke at `since` or later, the earliest first.
  [[nodiscard]] std::vector<NodeWitness> of(const std::string& node, SimTime since) const;
  /// What was said of it is answered: a test has passed since.
  void clear(const std::string& node) { nodes_.erase(node); }
  [[nodiscard]] std::size_t nodes() const { return nodes_.size(); }

 private:
  void forget(SimTime now);
  std::map<std::string, std::deque<NodeWitness>> nodes_;
  SimTime forgot_ = SimTime::min();
};

}  // namespace schedmate::live
