// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Lucid's profiler queue: least GPUs first, strict head of line, on a few nodes of
/// its own, with one node more while it is crowded.

#include <memory>
#include <schedmate/forecast.hpp>
#include <schedmate/policy.hpp>

namespace schedmate::policy {

struct ProfilerOptions {
  bool elastic = true;
  double calm_gpus = 0;  ///< predicted GPUs per ten minutes up to which a node may go back
  std::shared_ptr<const Forecast> forecast;  ///< null: little is predicted
};

/// Grows by node 9999 at a multiple of 10 s when more than 10 jobs wait; gives it back, when idle,
/// at a multiple of 100 s when fewer than 5 wait and little is predicted.
[[nodiscard]] Policy least_gpus_first(ProfilerOptions options);

}  // namespace schedmate::policy
