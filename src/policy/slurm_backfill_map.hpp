// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The map of one backfill pass: which GPUs are expected to be free when, from now to the end of
/// the window, in slots of the resolution (a slot is busy if a part of it is). It begins with what
/// is running (FreeTimes) and takes a reservation for each job that is asked for, so that later
/// questions go around it. Where the placer keeps gangs together there is a profile for each node
/// that has a reservation, while all others are found by when they come free; else any GPUs will
/// do and one profile of all is enough. Lives for one pass: it refers to cluster and FreeTimes.

#include <cstdint>
#include <optional>
#include <schedmate/cluster.hpp>
#include <schedmate/node_set.hpp>
#include <schedmate/time.hpp>
#include <span>
#include <vector>

#include "policy/free_times.hpp"

namespace schedmate::policy {

/// GPUs of one node, which ones is left open. One share of node 0 where any GPUs will do.
struct Share {
  std::uint32_t node = 0;
  int gpus = 0;
  bool operator==(const Share&) const = default;
};
using Shares = std::vector<Share>;

class FreeMap {
 public:
  struct Grid {
    SimTime now;
    Seconds window;
    Seconds resolution;
    bool whole_nodes = false;  ///< a reservation takes all GPUs of its nodes, as Slurm's do
  };
  FreeMap(FreeTimes& running, const Cluster& cluster, const Grid& grid);

  struct Request {
    int gang;
    Seconds run_time;                  ///< at least one second
    std::span<const Share> preferred;  ///< taken where they start no later; may be empty
    const NodeSet* nodes = nullptr;    ///< it may use; null: all
  };
  /// Where it could start now without touching a reservation, as the placer would choose among
  /// such nodes; empty when nowhere.
  [[nodiscard]] Shares now(const Request& request);
  /// To be called after a job was started there (FreeTimes knows it already).
  void started(std::span<const Share> where, Seconds run_time);

  struct Reservation {
    SimTime start;
    Shares where;
  };
  /// Reserves the earliest later start within the window, at the start of a slot.
  std::optional<Reservation> reserve(const Request& request);

 private:
  using Slot = std::int64_t;  // since the clock's zero
  struct Step {
    Slot from;
    int free;
  };
  using Profile = std::vector<Step>;  // by slot; the last one lasts
  struct Stretch {
    Slot from;
    Slot length;
  };

  /// The map only fills up, so no job starts before one that asked for less earlier, on the same
  /// nodes or on all: these are what was asked for, without those that tell nothing new.
  class Bounds {
   public:
    struct Asked {
      int gang;
      Slot length;
      const NodeSet* nodes;
    };
    void add(const Asked& asked, Slot start);
    /// At least `start`.
    [[nodiscard]] Slot raise(const Asked& asked, Slot start) const;

   private:
    struct Bound {
      Asked asked;
      Slot start;
    };
    std::vector<Bound> bounds_;
  };

  [[nodiscard]] Slot slot_at(SimTime when) const;     // that holds the instant
  [[nodiscard]] Slot slot_after(SimTime when) const;  // that starts then or later
  [[nodiscard]] Stretch from_now(Seconds run_time) const;
  [[nodiscard]] Profile profile_of(std::uint32_t node) const;
  [[nodiscard]] static Slot first_gap(const Profile& profile, int gpus, Stretch wanted);
  static void occupy(Profile& profile, Stretch when, int gpus);
  [[nodiscard]] Slot first_fit(std::uint32_t node, int gpus, Stretch wanted) const;
  [[nodiscard]] bool fits(std::uint32_t node, int gpus, Stretch wanted) const {
    return first_fit(node, gpus, wanted) == wanted.from;
  }
  [[nodiscard]] int free_at(std::uint32_t node, Slot slot) const;
  struct NodeFrom {
    Slot from;
    std::uint32_t node;
  };
  struct Candidates {
    std::vector<NodeFrom> nodes;  // a heap, the lowest first
    Slot length = 0;              // of the shortest stretch
  };
  [[nodiscard]] Candidates& candidates(int gpus, Slot length);
  template <class Action>
  void for_each_fit(int gpus, Stretch wanted, const Action& action);
  [[nodiscard]] Slot nth_node(const FreeTimes::Need& need, Stretch wanted);
  [[nodiscard]] Shares find_now(const Request& request, Stretch wanted) const;
  [[nodiscard]] const Profile* reserved(std::uint32_t node) const;
  Profile& reserve_on(std::uint32_t node);
  [[nodiscard]] Slot earliest(int gang, Stretch wanted);
  [[nodiscard]] Shares one_node_now(int gang, Stretch wanted) const;
  [[nodiscard]] Shares nodes_now(int gang, Stretch wanted) const;
  [[nodiscard]] Shares one_node_later(int gang, Stretch wanted) const;
  [[nodiscard]] Shares nodes_later(int gang, Stretch wanted) const;
  [[nodiscard]] bool all_fit(std::span<const Share> where, Stretch wanted) const;

  FreeTimes& running_;
  const Cluster& cluster_;
  Grid grid_;
  Slot first_;                      // holds now
  Slot last_;                       // the last one in which a job may start
  const NodeSet* among_ = nullptr;  // nodes of the present request; null: all
  // Of nodes with reservations; by node, one more than its index here or 0.
  std::vector<Profile> profiles_;
  std::vector<std::uint32_t> profile_of_node_;
  std::vector<std::vector<Candidates>> candidates_;  // by GPUs and kind of length
  std::vector<NodeFrom> looked_at_;
  // By the requests so far. A job that starts now takes the whole of the present slot, so what it
  // asks for is not what it would reserve.
  Bounds refused_now_;
  Bounds reserved_;
};

}  // namespace schedmate::policy
