// SPDX-License-Identifier: Apache-2.0
#pragma once

/// On which machines the GPUs of elastic jobs lie, kept from round to round. A policy
/// says how many GPUs of which type; a job that goes on as it was may have to change machines all
/// the same.

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "elastic/elastic_job.hpp"
#include "elastic/gpu_types.hpp"

namespace schedmate::elastic {

enum class PlacementRule : std::uint8_t {
  packed,  ///< again in each round: larger jobs first, node after node (the released simulator)
  smart,   ///< jobs that go on keep their place unless a larger one needs it (as deployed)
};

/// One job of a round.
struct PlacedJob {
  std::uint32_t job = 0;  ///< the same in all rounds; memory grows with the largest
  const Assignment* wanted = nullptr;
};

/// GPUs of one node; nodes of each type count from 0.
struct NodeShare {
  std::int32_t node = 0, gpus = 0;
  bool operator==(const NodeShare&) const = default;
};

/// Jobs as they were given. Valid until the next round.
struct RoundOfPlaces {
  /// They have what they had in the last round, but on other nodes.
  std::span<const std::uint32_t> moved;
  /// For them no place was found. None where nodes have 1, 2, 4, 8, ... GPUs, all have assignments
  /// of configurations_of() the cluster, and there are enough GPUs; else as few as come of it.
  std::span<const std::uint32_t> unplaced;
};

class NodePlacer {
 public:
  NodePlacer(const ElasticCluster& cluster, PlacementRule rule);

  /// All jobs of this round, each once; those that come not, or with no GPUs, give theirs back. Of
  /// equally large ones the first is placed first.
  RoundOfPlaces place(std::span<const PlacedJob> jobs);

  /// Ascending by node; empty without a place.
  [[nodiscard]] std::span<const NodeShare> place_of(std::uint32_t job) const;
  [[nodiscard]] std::int32_t free_gpus(std::uint16_t type, std::int32_t node) const;

 private:
  static constexpr std::uint32_t nobody = std::numeric_limits<std::uint32_t>::max();

  struct Node {
    std::int32_t free = 0;
    std::uint32_t first = nobody;  // of the jobs that are here and nowhere else
  };
  struct TypeNodes {
    std::int32_t gpus_per_node = 0;
    std::vector<Node> nodes;
    std::size_t pointer = 0;  // where packing goes on
  };
  struct Placing {
    std::uint16_t type = 0;
    GpusByNode wanted;
    std::vector<NodeShare> place;
  };
  struct JobPlaces {
    Placing now, before;
    std::int32_t largest = 0, gpus = 0;  // largest part, and all
    std::uint32_t next = nobody;         // on its node
    std::size_t order = 0;               // as it was given
    std::uint64_t round = 0;             // the last in which it came
  };
  /// Which sums some of the jobs on a node make: bit i for i GPUs.
  struct SumsOnNode {
    std::uint64_t sums = 1;
    std::int32_t whole = 0;
    void add(std::int32_t gpus);
    [[nodiscard]] bool makes(std::int32_t gpus) const;
    [[nodiscard]] std::int32_t least_from(std::int32_t need) const;
  };
  /// A node, and the GPUs that must go for a part to fit.
  struct Room {
    std::size_t node = 0;
    std::int32_t away = 0;
  };

  void begin(std::span<const PlacedJob> jobs);
  void enter(const PlacedJob& placed);
  [[nodiscard]] bool goes_on(std::uint32_t job) const;
  bool keep(std::uint32_t job);
  void take(std::uint32_t job, std::size_t node, std::int32_t gpus);
  void settle(std::uint32_t job);
  void leave(std::uint32_t job);
  bool place_parts(std::uint32_t job);
  [[nodiscard]] std::optional<Room> packed_room(std::uint32_t job, std::int32_t gpus);
  [[nodiscard]] std::optional<Room> smart_room(std::uint32_t job, std::int32_t gpus) const;
  [[nodiscard]] std::optional<std::int32_t> least_away(const Node& node, std::int32_t gpus) const;
  void send_away(Node& node, std::int32_t gpus, std::int32_t away);
  [[nodiscard]] bool larger(std::uint32_t one, std::uint32_t two) const;
  [[nodiscard]] bool has_part_on(std::uint32_t job, std::size_t node) const;

  PlacementRule rule_;
  std::uint64_t round_ = 0;
  std::vector<TypeNodes> types_;
  std::vector<JobPlaces> jobs_;       // by number
  std::vector<std::uint32_t> now_;    // of this round
  std::vector<std::uint32_t> queue_;  // from next_ on without a place yet
  std::size_t next_ = 0;
  std::vector<std::int32_t> parts_;  // of the job that is placed, descending
  std::vector<std::pair<std::uint32_t, SumsOnNode>> leaving_;  // with what those before it make
  std::vector<std::uint32_t> moved_, unplaced_;
};

}  // namespace schedmate::elastic
