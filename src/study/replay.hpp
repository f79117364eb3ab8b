// SPDX-License-Identifier: Apache-2.0
#pragma once

/// One policy over one trace: what --policy and the settings ask for, carried out.

#include <optional>
#include <schedmate/report.hpp>

#include "settings/session.hpp"
#include "study/explain.hpp"
#include "study/own_parts.hpp"
#include "study/policy_spec.hpp"
#include "study/trace_workload.hpp"

namespace schedmate::study {

inline const OwnParts no_own_parts;

struct ReplayInput {
  const settings::Session& session;
  Trace& trace;  ///< gets made-up profiles for the policies that need them, when it has none
  const ClusterSpec& cluster;
  WorkloadOnDemand& workloads;
  std::optional<std::uint32_t> explained_row;  ///< of --explain, index into Trace::jobs
  /// Of what costs draw: which jobs fail when, whose log shows their speed. Equal draws in all
  /// arms.
  std::uint64_t draw = 0;
  const OwnParts& own = no_own_parts;
};

struct Replay {
  RunRecord record;
  std::optional<Explanation> explanation;
};

/// Whether the policy's settings and its estimator are in order, before hours go into another one.
[[nodiscard]] Result<void> check_policy(const ReplayInput& input, const PolicySpec& policy);

/// What a policy is told of the jobs that enter.
struct PolicyEstimates {
  Estimator estimator;
  const TraceWorkload* workload = nullptr;  ///< that it stands on, if any
};
/// Errors: as check_policy().
[[nodiscard]] Result<PolicyEstimates> estimates_of(const ReplayInput& input,
                                                   const PolicySpec& policy);

/// Errors: what is wrong with the policy's settings or its estimator; invalid when the cluster does
/// not go with the trace.
[[nodiscard]] Result<Replay> replay(const ReplayInput& input, const PolicySpec& policy);

}  // namespace schedmate::study
