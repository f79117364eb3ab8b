// SPDX-License-Identifier: Apache-2.0
#pragma once

/// When GPUs will be free if every running job ends as predicted, and so the earliest instant at
/// which a gang could be placed. A placer that keeps gangs together needs GPUs on the right nodes,
/// so there the answer is counted in nodes: "so many nodes with so many free GPUs each". Costs the
/// nodes of the gang x log(nodes), never all nodes or all running jobs.

#include <array>
#include <cstdint>
#include <optional>
#include <schedmate/policy.hpp>
#include <schedmate/time.hpp>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "policy/sorted_chunks.hpp"

namespace schedmate::policy {

/// GPUs that are kept free for a gang which cannot be placed yet.
struct Reservation {
  int gang;
  SimTime at;
};

class FreeTimes {
 public:
  /// Of a cluster on which nothing runs yet.
  explicit FreeTimes(const Cluster& idle);
  /// One of its nodes may be another, or up or not, since the last time.
  void follow(const Cluster& cluster, std::uint32_t node);

  void hold(JobId job, Placement where, SimTime until);
  void free(JobId job);
  /// Another prediction for a job that holds GPUs.
  void expect(JobId job, SimTime until);
  /// The job that is expected to end first, if any runs.
  struct End {
    SimTime at;
    JobId job;
    int gpus;
    bool operator<(const End& other) const {
      return std::tie(at, job) < std::tie(other.at, other.job);
    }
  };
  [[nodiscard]] const End* next_end() const { return ends_.empty() ? nullptr : &ends_.front(); }

  [[nodiscard]] const SortedChunks<End>& ends() const { return ends_; }  ///< of all running jobs

  /// The earliest instant at which the gang could be placed; SimTime::min() when it could be now,
  /// `never` while too few nodes are up.
  [[nodiscard]] SimTime earliest(int gang);
  /// Whether it could still be placed by `by` if the free GPUs `taken` were held beyond that.
  [[nodiscard]] bool possible(int gang, SimTime by, std::span<const Slice> taken);
  /// Whether a job of that size, placed now, may run on beyond the reservation.
  [[nodiscard]] bool may_outlast(const Reservation& reserved, const Cluster& cluster, int gpus);
  /// A job beyond its prediction is expected to run as long again.
  void expect_overdue(const View& view);

  /// Below: only where the placer keeps gangs together.
  [[nodiscard]] bool together() const { return together_; }
  /// What a gang needs: both of them.
  struct Need {
    int nodes;  ///< so many nodes
    int gpus;   ///< with so many free GPUs each
  };
  [[nodiscard]] std::array<Need, 2> needs(int gang) const;
  /// When the node will have that many free GPUs; SimTime::min() when it has them now, `never`
  /// unless it is up.
  [[nodiscard]] SimTime ready(std::uint32_t node, int gpus) const;
  /// Nodes in the order in which they will have that many.
  using Order = SortedChunks<std::pair<SimTime, std::uint32_t>>;
  [[nodiscard]] const Order& order(int gpus);

 private:
  /// Most runs have one slice, so that a copy of all of them costs little.
  struct Run {
    Slice first;
    Placement others;
    SimTime until;
    int gpus = 0;
    template <class Action>
    void for_each_slice(const Action& action) const {
      action(first);
      for (const Slice& slice : others) action(slice);
    }
  };
  void place(JobId job, Run run);
  [[nodiscard]] bool loses(const Slice& taken, int gpus, SimTime by) const;
  [[nodiscard]] SimTime nth_node(int nodes, int gpus);
  [[nodiscard]] SimTime& ready_at(std::uint32_t node, int gpus);
  void add_nodes(std::uint32_t end);
  void update(std::uint32_t node);
  Run forget(JobId job);

  bool together_;  // else any free GPUs will do
  int gpus_per_node_;
  int free_gpus_;            // of nodes that are up
  std::vector<bool> is_up_;  // by node
  JobMap<Run> runs_;
  SortedChunks<End> ends_;

  // together_ only
  std::vector<std::vector<End>> holds_;      // by node, ends in order
  std::vector<SimTime> ready_;               // node x GPUs: when it has them
  std::vector<std::optional<Order>> order_;  // [k]: nodes by ready(, k), once asked for
};

}  // namespace schedmate::policy
