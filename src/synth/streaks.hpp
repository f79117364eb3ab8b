// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The order of the drawn jobs: outcomes and run times come in streaks, as they do on real
/// clusters.

#include "base/random.hpp"
#include "synth/published.hpp"
#include "synth/synth_job.hpp"

namespace schedmate::synth {

/// Jobs that one user submits one after the other, all of one type and GPU count.
struct Burst {
  std::uint32_t first = 0;  ///< into Streaks::order
  std::uint32_t count = 0;
};

struct Streaks {
  std::vector<std::uint32_t> order;  ///< every job once
  std::vector<Burst> bursts;         ///< they cover `order`
};

/// Next states with the measured odds ratios and these shares of the states: rows and columns are
/// scaled until both fit (Sinkhorn). The measured probabilities themselves hold only where the
/// shares are those of the measured cluster.
[[nodiscard]] std::array<StateShares, 3> next_states(const std::array<StateShares, 3>& measured,
                                                     const StateShares& shares);

/// Within a type and GPU count, states follow `next_states`; a job repeats the run time of the one
/// before it (with the measured spread) as often as is needed for the measured share within a
/// factor 2. Bursts have geometric lengths with the measured share that goes on.
[[nodiscard]] Streaks order_streaks(const Behaviour& behaviour, const SynthJobs& jobs,
                                    Random random);

}  // namespace schedmate::synth
