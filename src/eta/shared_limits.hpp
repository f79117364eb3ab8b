// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Limits that jobs share, in the replay of one pool: whom the policy may be told of.

#include <cstdint>
#include <optional>
#include <schedmate/eta.hpp>
#include <schedmate/policy.hpp>
#include <span>
#include <utility>
#include <vector>

namespace schedmate::eta {

/// The snapshot's limits, less what runs in other pools than this one.
[[nodiscard]] std::vector<SharedLimit> limits_left_to(const QueueSnapshot& snapshot,
                                                      std::uint32_t pool);

/// A job has room in all its limits or does not start. A policy that heeds limits is told of every
/// job that competes, and a job takes room as it starts. For other policies it does so before they
/// are told of it; who finds none is passed over and asked again when a run of its limits has
/// ended. Room comes back as a run ends.
class Admission {
 public:
  /// `jobs`: those of the pool, which outlive this object; what runs takes its room.
  Admission(const QueueSnapshot& snapshot, std::uint32_t pool, std::span<const SnapshotJob> jobs,
            bool at_start);

  /// Whether a job takes room as it starts.
  [[nodiscard]] bool at_start() const { return at_start_; }
  void started(std::uint32_t job) {
    if (at_start_) take(job, 1);
  }

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
  bool at_start_;
  std::vector<Room> whole_, left_;      // by limit
  std::vector<std::uint32_t> waiting_;  // rising
  bool is_new_ = true;                  // somebody has entered or there is more room
};

/// What a policy asks in one call (View::has_room): what the plan has started so far is counted.
/// `place_of` gives the index of a job of the pool, of others no_index; those have no limits.
template <class PlaceOf>
class RoomBesidePlan {
 public:
  RoomBesidePlan(Admission& admission, const Plan& plan, PlaceOf place_of)
      : admission_(admission), plan_(plan), place_of_(std::move(place_of)) {}

  [[nodiscard]] bool operator()(JobId id) {
    count();
    const std::uint32_t job = place_of_(id);
    return job == no_index || !admission_.no_room_for(job);
  }
  /// To be called once more when the policy has returned.
  void count() {
    for (; counted_ < plan_.decisions().size(); ++counted_) {
      const Plan::Decision& decision = plan_.decisions()[counted_];
      const std::uint32_t job = place_of_(decision.job);
      if (decision.kind == Plan::Decision::Kind::start && job != no_index) admission_.started(job);
    }
  }

 private:
  Admission& admission_;
  const Plan& plan_;
  PlaceOf place_of_;
  std::size_t counted_ = 0;
};

}  // namespace schedmate::eta
