// SPDX-License-Identifier: Apache-2.0
#pragma once

/// One policy over one trace: what --policy and the settings ask for, carried out.

#include <optional>
#include <schedmate/report.hpp>

#include "settings/session.hpp"
#include "study/explain.hpp"
#include "study/policy_spec.hpp"
#include "study/trace_workload.hpp"

namespace schedmate::study {

struct ReplayInput {
  const settings::Session& session;
  Trace& trace;  ///< gets made-up profiles for the policies that need them, when it has none
  const ClusterSpec& cluster;
  WorkloadOnDemand& workloads;
  std::optional<std::uint32_t> explained_row;  ///< of --explain, index into Trace::jobs
  /// Of what costs draw: which jobs fail when, whose log shows their speed. Equal draws in all
  /// arms.
  std::uint64_t draw = 0;
};

struct Replay {
  RunRecord record;
  std::optional<Explanation> explanation;
};

/// Whether the policy's settings and its estimator are in order, before hours go into another one.
[[nodiscard]] Result<void> check_policy(const ReplayInput& input, const PolicySpec& policy);

/// Errors: what is wrong with the policy's settings or its estimator; invalid when the cluster does
/// not go with the trace.
[[nodiscard]] Result<Replay> replay(const ReplayInput& input, const PolicySpec& policy);

}  // namespace schedmate::study
