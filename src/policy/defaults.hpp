// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Constants of the baselines as released with Lucid, each a default of a setting.

#include <schedmate/time.hpp>

namespace schedmate::policy::lucid {

inline constexpr Seconds profiling_time{200};     ///< T_prof on Venus
inline constexpr int profiler_nodes = 2;          ///< N_prof
inline constexpr int profiled_gpus_per_node = 4;  ///< scale factor: jobs up to nodes x 4 GPUs
inline constexpr int score_limit = 2;             ///< sum of the sharing scores of a pair
inline constexpr double time_awareness = 2;       ///< newcomer's priority / resident's, at most
inline constexpr double quiet_jobs = 2;           ///< expected jobs per ten minutes: packing off
inline constexpr Seconds switch_interval{100};
inline constexpr double negative_estimate_s = 1000;  ///< replaces an estimate below zero
inline constexpr int crowded_queue = 10;             ///< profiler: longer asks for one more node
inline constexpr int calm_queue = 5;                 ///< shorter may give it back
inline constexpr Seconds grow_interval{10};
inline constexpr Seconds shrink_interval{100};
inline constexpr std::uint32_t extra_node = 9999;  ///< its printed number

}  // namespace schedmate::policy::lucid
