// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What `schedmate whatif` found, and how it is told.

#include <schedmate/report.hpp>
#include <string>
#include <vector>

#include "whatif/compare.hpp"

namespace schedmate::service {

/// One policy against the replay.
struct WhatifPolicy {
  std::string label, spec;
  std::vector<Change> all;  ///< one, or none when no job can be compared
  std::vector<Change> users, sizes;
  std::uint64_t left = 0;         ///< jobs that did not finish under it
  std::string invented_workload;  ///< the recipe that stood for the jobs' GPU use, "" = not needed
  bool as_replay = false;         ///< every job started and ended as in the replay
};

/// A model of the site's scheduler that was tried.
struct WhatifSite {
  std::string spec;
  double median_error_s = 0;
};

/// Jobs that Slurm started again and of which the dump has no attempt but the last.
struct LastAttempts {
  std::uint64_t jobs = 0;
  std::uint64_t restarts = 0;  ///< of them all
};

struct WhatifAnswer {
  std::string dump;  ///< file name, without its folders
  std::string site;  ///< the policy that stands for the site's scheduler: the nearest of `tried`
  std::string site_workload;  ///< as WhatifPolicy::invented_workload
  std::vector<WhatifSite> tried;
  bool hashed = true;
  const AccountingDump& accounting;
  const SeenCluster& cluster;
  const PastWorld& world;
  LastAttempts alone;
  Fidelity fidelity;
  std::vector<Loss> losses;
  std::vector<WaitShare> reasons;
  std::vector<WhatifPolicy> policies;  ///< none when the replay is not good enough
  std::vector<std::string> notes;      ///< on what was tried, as sentences
  std::string out;                     ///< folder, "" = none
};

/// Jobs, cluster, limits, warm-up.
[[nodiscard]] std::string world_text(const WhatifAnswer& answer);
/// How near the replay comes, and the verdict.
[[nodiscard]] std::string fidelity_text(const WhatifAnswer& answer);
/// Failures; then for each policy who gains and who loses.
[[nodiscard]] std::string changes_text(const WhatifAnswer& answer);
/// schedmate.whatif.v1
[[nodiscard]] std::string whatif_json(const WhatifAnswer& answer);
/// The cluster as a file for --cluster.
[[nodiscard]] std::string cluster_toml(const SeenCluster& cluster);

}  // namespace schedmate::service
