// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The replay that a request for a forecast names.

#include <schedmate/trace.hpp>

#include "queue/eta.hpp"
#include "study/trace_queue.hpp"

namespace schedmate::queue {

[[nodiscard]] bool is_trace(const EtaRequest& request);
/// Errors: unsupported for flags that are of a trace.
[[nodiscard]] Result<void> check_of_cluster(const EtaRequest& request);
[[nodiscard]] EtaOptions options_of(const settings::Session& session, const EtaRequest& request);

/// What the request says, else `usual`. Errors: of the text; unsupported for what an elastic
/// cluster needs.
[[nodiscard]] Result<study::PolicySpec> policy_of(const EtaRequest& request,
                                                  std::string_view usual = "slurm_backfill");

struct EtaReplay {
  Trace trace;
  ClusterSpec cluster;
  study::TraceReplay replay;
  SimTime now;  ///< what the request says with --at
};
/// Errors: of the trace, the cluster, the instant, the policy.
[[nodiscard]] Result<EtaReplay> replay_of(const settings::Session& session,
                                          const EtaRequest& request,
                                          const study::PolicySpec& policy);

}  // namespace schedmate::queue
