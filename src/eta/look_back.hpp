// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Forecasts of the past, made with what was known then, beside what came of them.

#include <cstdint>
#include <functional>
#include <schedmate/eta_calibration.hpp>
#include <schedmate/scheduler.hpp>
#include <string>
#include <vector>

#include "eta/replayed_queue.hpp"

namespace schedmate::eta {

/// An instant, and jobs that waited or ran then, as rows of the trace.
struct AskedInstant {
  SimTime when;
  std::vector<std::uint32_t> rows;  ///< rising
};

struct LookBack {
  SimTime from;
  SimTime until;  ///< what comes later is not known
  std::int64_t instants = 200;
  EtaOptions how;
};

/// Random instants in order of time. Each job is asked about once a day, at one of those that it
/// waited or ran at; instants with nobody to ask about are left out.
[[nodiscard]] std::vector<AskedInstant> draw_instants(const ReplayedQueue& queue,
                                                      const LookBack& asked);

/// The snapshot of an instant, without the pools that nobody is asked about in.
struct AskedQueue {
  QueueSnapshot snapshot;
  std::vector<std::uint32_t> rows;  ///< parallel to snapshot.jobs
};
[[nodiscard]] AskedQueue asked_queue(const ReplayedQueue& queue, const AskedInstant& asked);

/// In order of the instants.
struct SeenForecasts {
  std::vector<PastForecast> forecasts;
  std::int64_t instants = 0;
  /// Instants that the cluster as given cannot have been in, and the first reason.
  std::int64_t left_out = 0;
  std::string why_left_out;
};

/// `progress` is told the share of the instants that are done.
[[nodiscard]] SeenForecasts look_back(const ReplayedTrace& replay, const Scheduler& scheduler,
                                      const LookBack& asked,
                                      const std::function<void(double)>& progress = {});

}  // namespace schedmate::eta
