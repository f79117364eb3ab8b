// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The released code's half-done exchange of nodes between vcYVn and the profiler
/// (docs/decisions/0002, Defects::node_echo): when the profiler gains a node this VC gives up an
/// idle one if it has one, when the profiler returns it the VC gets node 9999.

#include <schedmate/cluster.hpp>
#include <schedmate/time.hpp>
#include <span>
#include <utility>

namespace schedmate::sim {

class NodeEcho {
 public:
  using Change = std::pair<SimTime, int>;  ///< when, and +1 (profiler grows) or -1 (it shrinks)
  explicit NodeEcho(std::span<const Change> changes) : changes_(changes) {}
  /// All changes so far, those that were followed first.
  void see(std::span<const Change> changes) { changes_ = changes.subspan(followed_); }
  [[nodiscard]] SimTime next() const { return changes_.empty() ? never : changes_.front().first; }
  /// Follows the next change.
  void follow(Cluster& cluster);

 private:
  void give_up_idle_node(Cluster& cluster);
  std::span<const Change> changes_;
  std::size_t followed_ = 0;
  bool removed_before_ = false;
};

}  // namespace schedmate::sim
