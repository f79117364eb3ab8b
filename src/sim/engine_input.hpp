// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What a virtual cluster's engine is made of (engine.hpp). What it refers to outlives the engine.

#include <cstdint>
#include <functional>
#include <schedmate/sim.hpp>
#include <span>
#include <tuple>
#include <vector>

#include "sim/node_echo.hpp"

namespace schedmate::sim {

struct EngineJob {
  std::uint32_t row;      ///< index into Trace::jobs
  SimTime enters;         ///< when it joins the queue
  Seconds work;           ///< run time at full speed
  bool measured = false;  ///< its GPU use was measured in front of the VC
  enum class Kind : std::uint8_t {
    usual,
    doomed,  ///< on a bad node: fails at once
    futile,  ///< its failure was its own fault: it will only fail again
  } kind = Kind::usual;
  bool alone = false;         ///< its memory did not fit beside another's
  std::uint32_t attempt = 0;  ///< of the row
  double done_s = 0;          ///< work that earlier attempts have kept
  std::int64_t order = 0;     ///< JobInfo::order
  bool operator<(const EngineJob& other) const {
    return std::tie(enters, row) < std::tie(other.enters, other.row);
  }
};

struct EngineInput {
  const Trace& trace;
  const PartitionSpec& partition;
  const SimOptions& options;
  Policy policy;
  Estimator estimator;                     ///< empty = true durations
  bool handler = false;                    ///< failures are handled (Scheduler::handler)
  std::vector<EngineJob> jobs;             ///< by entry, equal times in file order
  Seconds lag{0};                          ///< every run ends this much later (Defects::late_end)
  std::span<const NodeEcho::Change> echo;  ///< node exchange with the profiler, or empty
  SimTime first_submit, last_submit;       ///< of the whole trace
  SimTime open_until;  ///< the policy is still woken up to here when all have ended
  std::function<void(std::uint32_t row)> on_end;  ///< called once for each finished job
};

}  // namespace schedmate::sim
