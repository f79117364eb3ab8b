// SPDX-License-Identifier: Apache-2.0
#pragma once

/// An oracle for the simulator: a plain model of the six reference policies that advances second by
/// second and looks at everything every second. It is written from the description of the released
/// Lucid simulator alone and shares no code with the simulator, so that a slip in one of them shows
/// as a difference. Slow on purpose; no errors are handled: inputs come from tests.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tick_cluster.hpp"

namespace oracle {

using Tick = std::int64_t;  ///< seconds, on the clock of the trace

enum class TickPolicy : std::uint8_t { fifo, sjf, srtf, qssf, tiresias, lucid };

/// `reference` is the released simulator with its defects, `repaired` is what it meant to do.
enum class Mode : std::uint8_t { reference, repaired };

struct TickJob {
  Tick submit = 0;
  Tick duration = 1;  ///< >= 1
  int gpus = 1;
  std::size_t vc = 0;       ///< index into TickInput::vcs
  double estimate = 0;      ///< of the duration, for qssf and lucid
  std::size_t profile = 0;  ///< index into TickInput::profiles
};

struct TickVc {
  std::string name;
  int nodes = 1;
  int gpus_per_node = 8;
  Tick round = 1;  ///< decisions only at multiples of it
};

struct TickProfile {
  int sharing_score = 0;
  double memory_mib = 0;
  bool interference_free = false;  ///< a pair with it runs at full speed
};

struct PairSpeed {
  double newcomer = 1;
  double resident = 1;
};

/// Row i stands for the 600 s from first + 600 i on.
struct Forecast {
  Tick first = 0;
  std::vector<double> jobs;
  std::vector<double> gpus;
};

struct ProfilerSettings {
  Tick duration = 200;
  int nodes = 2;
  int gpus_per_node = 8;
  int max_gpus = 8;  ///< larger jobs are not profiled
  std::vector<std::string> lenders{"vc8Gr", "vcefl"};
  std::string echo_vc = "vcYVn";
};

struct TickInput {
  std::vector<TickJob> jobs;  ///< by submission, ties in file order
  std::vector<TickVc> vcs;
  std::vector<TickProfile> profiles;
  std::vector<PairSpeed> pairs;  ///< square: row = newcomer's profile, column = resident's
  Forecast forecast;
  ProfilerSettings profiler;
};

enum class TickStatus : std::uint8_t {
  finished,
  infeasible,  ///< can never fit: never queued
  stalled,     ///< waits for a node that is gone for good
};

struct TickOutcome {  ///< of a job that has not finished only the status is meant
  TickStatus status = TickStatus::finished;
  bool profiled = false;
  bool finished_in_profiler = false;
  bool exclusive = true;
  int preemptions = 0;
  Tick start = -1;
  Tick end = -1;
  Tick queue = 0;
  Tick profiler_queue = 0;
  double rate = 1;
  double remaining = 0;
  Tick packed_at = 0;
  Tick unpacked_at = 0;
  Nodes nodes;
  bool operator==(const TickOutcome&) const = default;
};

struct TickResult {
  std::vector<TickOutcome> outcomes;          ///< parallel to TickInput::jobs
  std::vector<std::pair<Tick, int>> scaling;  ///< the profiler's extra node: +1 came, -1 went
};

[[nodiscard]] TickResult run_tick_model(const TickInput& input, TickPolicy policy, Mode mode);

}  // namespace oracle
