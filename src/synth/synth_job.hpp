// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace schedmate::synth {

constexpr std::uint32_t no_job = 0xFFFF'FFFF;

/// A drawn job. All of it is synthetic.
struct SynthJob {
  std::int64_t submit_s = 0;     ///< since the first midnight
  std::int64_t run_s = 0;        ///< 1 or more
  std::int64_t remaining_s = 0;  ///< work left at the start, for a continuation
  std::int64_t restart_s = 0;    ///< after the failure, by hand
  std::uint32_t user = 0;
  std::uint32_t parent = no_job;  ///< index of the failed job that this one continues
  std::int32_t gpus = 1;
  std::int32_t cause = -1;  ///< of Published::causes, for a failed job
  std::uint8_t type = 0;
  std::uint8_t state = 0;   ///< of synth_states
  std::uint16_t point = 0;  ///< of the type's duration CDF: the first that is not below run_s
};

using SynthJobs = std::vector<SynthJob>;

}  // namespace schedmate::synth
