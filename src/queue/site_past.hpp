// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The past of a cluster, from the history, as a replayed trace is (eta/replayed_queue.hpp).

#include <schedmate/job.hpp>
#include <schedmate/sim.hpp>
#include <vector>

#include "eta/replayed_queue.hpp"
#include "queue/eta.hpp"
#include "slurm/site_policy.hpp"

namespace schedmate::queue {

struct SitePast {
  Trace trace;
  std::string cluster_name;  ///< "" = not said
  ClusterSpec cluster;       ///< as it is now; its nodes are taken to have been there all the time
  std::vector<JobOutcome> outcomes;
  std::vector<Seconds> limits;  ///< what the scheduler planned with
  SimTime now;
  slurm::SitePolicy policy;  ///< of the site

  /// The object outlives it.
  [[nodiscard]] eta::ReplayedTrace view() const {
    return {trace, cluster, outcomes, limits, limits, true};
  }
};

/// Finished jobs of the history that had GPUs of a partition that is there now, and what runs now.
/// Errors: of the queue and the history; refused where it belongs to another user; not_found where
/// it holds none.
[[nodiscard]] Result<SitePast> past_of_site(const settings::Session& session,
                                            const EtaRequest& request);

}  // namespace schedmate::queue
