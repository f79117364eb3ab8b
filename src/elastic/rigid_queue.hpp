// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Policies whose jobs keep the GPUs and the batch that they asked for, and what such policies
/// share. GPUs of one type are interchangeable: a job that stays on a type does not move, and
/// whether the free ones lie on few nodes is not looked at. No profiles are taken.

#include <optional>
#include <utility>
#include <vector>

#include "elastic/rounds.hpp"

namespace schedmate::elastic {

/// One way to run a job with what it asked for.
struct RigidPlace {
  Assignment at;                ///< whole nodes, and the rest on one more
  double steps_per_s = 0;       ///< optimiser steps, as the simulation has them
  std::vector<double> speed;    ///< progress a second, by epoch
  std::vector<double> later_s;  ///< seconds from the end of each epoch to the end of the job
};
/// By GPU type; nothing where it can't run.
using RigidPlaces = std::vector<std::optional<RigidPlace>>;

/// Reads the application's tables, as an oracle would. A job that no type can run as it is gets the
/// most GPUs below that one can.
[[nodiscard]] RigidPlaces rigid_places(const ElasticRun& run, const ElasticCluster& cluster);

/// True seconds until its end there, restarts not counted: steps of the measured time, each worth
/// the gain of its epoch at the fixed batch.
[[nodiscard]] double remaining_s(const ElasticRun& run, const RigidPlace& place);

/// A plan that is filled job by job.
class RigidPlan {
 public:
  /// Restarting jobs keep their GPUs.
  explicit RigidPlan(const ElasticView& view);
  /// All jobs that run keep theirs.
  void keep_all();
  [[nodiscard]] bool has(std::size_t entry) const { return !plan_.held[entry].placement.empty(); }
  [[nodiscard]] bool has_room(const RigidPlace& place) const;
  void give(std::size_t entry, const Assignment& what);
  /// For the rounds; called once.
  [[nodiscard]] ElasticPlan take() { return std::move(plan_); }
  [[nodiscard]] const Assignment& held(std::size_t entry) const { return plan_.held[entry]; }

 private:
  const ElasticView& view_;
  ElasticPlan plan_;
  std::vector<std::int32_t> free_;  // by type
};

/// By submission; the first that finds no room holds up all behind it. Jobs run to their end on the
/// type on which, of those with room, they are fastest.
[[nodiscard]] ElasticPolicy elastic_fifo_policy();

/// The job that could end first goes first, on the fastest type with room, and so on; jobs without
/// room are passed over, running ones are suspended. A move that saves no more than its restart
/// takes is not made. An oracle: it knows the true remaining times.
[[nodiscard]] ElasticPolicy elastic_srtf_policy();

}  // namespace schedmate::elastic
