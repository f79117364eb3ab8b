// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/random.hpp"
#include "synth/published.hpp"
#include "synth/synth_job.hpp"

namespace schedmate::synth {

/// Makes later jobs continuations of failed ones: of the jobs that failed after a run of at least
/// resume_after_s, the measured share gets the next job of its type and GPU count that was
/// submitted after its end; that job takes over the user and is submitted the parent's restart_s
/// after that end. What had been done at the parent's last checkpoint need not be done again:
/// remaining_s of a job that runs to its end is its run time, and grows up the chain by the
/// checkpointed part; for a chain that was cancelled or failed it is the least that was left.
/// Returns the continuations.
std::int64_t link_resumed(const Behaviour& behaviour, std::int64_t span_s, SynthJobs& jobs,
                          Random random);

}  // namespace schedmate::synth
