// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What another policy would have changed on a site's own cluster, by its accounting
/// (docs/formats/whatif.md).

#include <functional>
#include <schedmate/report.hpp>
#include <string>
#include <vector>

#include "base/document.hpp"
#include "settings/session.hpp"
#include "whatif/compare.hpp"

namespace schedmate::lab {

struct WhatifRequest {
  std::string sacct;                  ///< the dump: what sacct --parsable2 or --json printed
  std::string cluster;                ///< TOML file, "" = what the dump shows
  std::vector<std::string> policies;  ///< what would be; empty = as whatif_sites.hpp says
  std::string site;                   ///< the site's own scheduler; "" = nearest of default_sites
  std::string out;                    ///< folder, "" = nothing is written
  std::string names = "hashed";       ///< of users: or "plain"
  std::string commit;                 ///< of the program, for the files
};

/// One policy against the replay.
struct WhatifPolicy {
  std::string label, spec;
  std::vector<whatif::Change> all;  ///< one, or none when no job can be compared
  std::vector<whatif::Change> users, sizes;
  std::uint64_t left = 0;         ///< jobs that did not finish under it
  std::string invented_workload;  ///< the recipe that stood for the jobs' GPU use, "" = not needed
  bool as_replay = false;         ///< every job started and ended as in the replay
  /// Every job started and ended as in the run of this label (the host of a variant, "replay", or
  /// one further up); "" = a run of its own. `host_alone`: that host is not among the policies.
  std::string same_as;
  bool host_alone = false;
  std::string oracle;              ///< the estimator that knows the future, "" = none does
  bool takes_advice = false;       ///< SchedMate's, whether or not it was used
  std::uint64_t advised = 0;       ///< jobs for which it was: those of LABEL.jobs.csv
  std::uint64_t jobs = 0;          ///< of the trace
  std::vector<std::string> notes;  ///< on its profiler, as sentences
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

/// What a reader should take from an answer, as sentences (docs/formats/whatif.md).
struct WhatifVerdict {
  std::string best;  ///< label; "" = none gains for certain. Never one that knows the future
  std::string fidelity, gains, losers, failures, confidence, advice;
  std::vector<std::string> asides;  ///< rows that are left out or prove nothing, and why
};

struct WhatifAnswer {
  std::string dump;  ///< file name, without its folders
  std::string site;  ///< the policy that stands for the site's scheduler: the nearest of `tried`
  std::string site_workload;  ///< as WhatifPolicy::invented_workload
  std::vector<WhatifSite> tried;
  bool hashed = true;
  AccountingDump accounting;
  whatif::InferredCluster cluster;
  whatif::RecordedCluster world;
  LastAttempts alone;
  whatif::Fidelity fidelity;
  std::vector<whatif::Loss> losses;
  std::vector<whatif::WaitShare> reasons;
  std::vector<WhatifPolicy> policies;  ///< none when the replay is not good enough
  std::vector<std::string> notes;      ///< on what was tried, as sentences
  WhatifVerdict verdict;               ///< once all policies were tried
  std::string out;                     ///< folder, "" = none
};

/// Called as the answer grows.
struct WhatifSteps {
  /// Everything is read and sound: dump, cluster, world, losses and reasons are there.
  std::function<void(const WhatifAnswer& answer)> begins;
  std::function<void(const WhatifAnswer& answer)> replayed;  ///< site, tried and fidelity, too
};

/// Replays what was under the site's scheduler and then, where that comes near enough to reality,
/// each policy; writes whatif.json, cluster.toml, summary.json, report.html and the files of each
/// run. Errors: of the policies, the files and the replays.
[[nodiscard]] Result<WhatifAnswer> whatif(const settings::Session& session,
                                          const WhatifRequest& request, const WhatifSteps& steps);

/// schedmate.whatif.v1
[[nodiscard]] Document whatif_document(const WhatifAnswer& answer);
/// The cluster as a file for --cluster.
[[nodiscard]] std::string inferred_cluster_toml(const whatif::InferredCluster& cluster);

}  // namespace schedmate::lab
