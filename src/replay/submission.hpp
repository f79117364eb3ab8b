// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A job that comes from a call instead of the trace. Values.

#include <schedmate/action.hpp>
#include <schedmate/job.hpp>
#include <string>

namespace schedmate::replay {

struct Submission {
  std::string user{}, name{}, partition{};  ///< partition "": the cluster's first
  std::string dir{}, command{}, output{};
  std::int32_t gpus = 1;
  Seconds limit{0};  ///< 0: none
  Seconds run{0};    ///< how long it would run without a limit
};

/// Of ActionCall::text: {name, partition, dir, command, output, gpus, limit_s, run_s}, each of them
/// optional. `run_s` is what a replay cannot find out: without it the job runs
/// until its limit, or for an hour. Errors: invalid.
[[nodiscard]] Result<Submission> read_submission(const ActionCall& call);

/// What it does at full speed, and how it then ends: it is over its limit, or done.
[[nodiscard]] Seconds work_of(const Submission& submission);
[[nodiscard]] EndState end_of(const Submission& submission);

/// A trace to which jobs may be added. Its texts are those of `trace`, which outlives it; columns
/// and the report are left out.
[[nodiscard]] Trace growing(const Trace& trace);
/// The new row.
std::uint32_t add_job(Trace& trace, const std::string& id, const Submission& submission,
                      SimTime now);

}  // namespace schedmate::replay
