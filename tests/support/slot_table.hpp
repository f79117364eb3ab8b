// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The plain form of a scheduler's map of what will be free: a table of nodes by slots, searched
/// from one end to the other.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace schedmate::testing {

/// Free GPUs by node (or all together) and slot.
class SlotTable {
 public:
  using Nodes = std::vector<std::pair<std::size_t, int>>;  ///< node, GPUs
  SlotTable(std::size_t nodes, int free, std::int64_t slots)
      : free_(nodes, std::vector<int>(static_cast<std::size_t>(slots), free)), most_(free) {}

  void take(const Nodes& where, std::int64_t from, std::int64_t to) {
    for (const auto& [node, gpus] : where) {
      for (auto s = from; s < std::min(to, slots()); ++s)
        free_[node][static_cast<std::size_t>(s)] -= gpus;
    }
  }
  [[nodiscard]] std::int64_t slots() const { return std::ssize(free_[0]); }

  [[nodiscard]] bool fits(std::size_t node, int gpus, std::int64_t from, std::int64_t to) const {
    const auto begin = free_[node].begin();
    return std::all_of(begin + from, begin + std::min(to, slots()),
                       [&](int free) { return free >= gpus; });
  }

  /// As the placer would choose among the nodes that fit; nothing when it cannot be placed.
  [[nodiscard]] std::optional<Nodes> find(int gang, std::int64_t from, std::int64_t to) const {
    Nodes where;
    const auto used = [&](std::size_t node) {
      return std::ranges::any_of(where, [&](const auto& share) { return share.first == node; });
    };
    const bool several = gang > most_;
    for (std::size_t node = 0; several && node < free_.size() && gang >= most_; ++node) {
      if (!fits(node, most_, from, to)) continue;
      where.emplace_back(node, most_);
      gang -= most_;
    }
    if (gang >= most_ && several) return std::nullopt;
    if (gang == 0) return where;
    std::optional<std::pair<int, std::size_t>> best;
    for (std::size_t node = 0; node < free_.size(); ++node) {
      if (used(node) || !fits(node, gang, from, to)) continue;
      const int free = free_[node][static_cast<std::size_t>(from)];
      const std::pair rank{several ? -free : free, node};
      if (!best || rank < *best) best = rank;
    }
    if (!best) return std::nullopt;
    where.emplace_back(best->second, gang);
    return where;
  }

 private:
  std::vector<std::vector<int>> free_;
  int most_;
};

}  // namespace schedmate::testing
