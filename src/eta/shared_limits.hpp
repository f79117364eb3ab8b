// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Limits that jobs share, in the replay of one pool: whom the policy may be told of.

#include <cstdint>
#include <optional>
#include <schedmate/eta.hpp>
#include <span>
#include <vector>

namespace schedmate::eta {

/// The snapshot's limits, less what runs in other pools than this one.
[[nodiscard]] std::vector<SharedLimit> limits_left_to(const QueueSnapshot& snapshot,
                                                      std::uint32_t pool);

/// Jobs that compete take room in all their limits before the policy is told of them, until their
/// runs end. Who finds none is passed over and asked again when a run of its limits has ended.
class Admission {
 public:
  /// `jobs`: those of the pool, which outlive this object; what runs takes its room.
  Admission(const QueueSnapshot& snapshot, std::uint32_t pool, std::span<const SnapshotJob> jobs);

  /// The first limit that is too low for the job alone.
  [[nodiscard]] std::optional<std::uint32_t> never_room_for(std::uint32_t job) const;
  /// The first limit that has no room for the job now.
  [[nodiscard]] std::optional<std::uint32_t> no_room_for(std::uint32_t job) const;

  /// It competes from now on.
  void enter(std::uint32_t job);
  void ended(std::uint32_t job);
  /// Adds those that there is room for, in the order of the jobs.
  void admit(std::vector<std::uint32_t>& admitted);
  /// Those that compete and have no room; rising.
  [[nodiscard]] std::span<const std::uint32_t> passed_over() const { return waiting_; }

 private:
  struct Room {
    std::int64_t gpus, jobs;
    [[nodiscard]] bool holds(std::int64_t more) const { return more <= gpus && jobs >= 1; }
  };
  [[nodiscard]] std::optional<std::uint32_t> first_full(std::uint32_t job,
                                                        std::span<const Room> rooms) const;
  void take(std::uint32_t job, std::int64_t sign);

  std::span<const SnapshotJob> jobs_;
  std::vector<Room> whole_, left_;      // by limit
  std::vector<std::uint32_t> waiting_;  // rising
  bool is_new_ = true;                  // somebody has entered or there is more room
};

}  // namespace schedmate::eta
