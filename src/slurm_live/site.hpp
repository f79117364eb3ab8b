// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What a site's settings allow, and whoever asks.

#include <optional>
#include <schedmate/connector.hpp>
#include <string>
#include <string_view>

namespace schedmate::slurm_live {

/// What the daemon's settings say of tests of nodes and of spare ones.
struct NodeCare {
  std::string test_command{};  ///< for /bin/sh on the nodes, as one job; "": there is no test
  Seconds test_timeout{300};
  std::string spares{};  ///< reservation that keeps spare nodes; "": there is none
};

struct Site {
  std::string version;  ///< "22.05.8"
  /// Priorities are computed, so that a site factor counts (priority/multifactor).
  bool has_factors = false;
  bool has_accounting = false;  ///< slurmdbd knows who is an operator
  std::string slurm_user;
  Seconds remembers{300};          ///< jobs that have ended (MinJobAge)
  std::optional<SimTime> began{};  ///< its controller
  bool appends_logs = false;       ///< of jobs that are requeued (JobFileAppend)
  std::int64_t weights = 0;        ///< the most that the factors of a job add up to
  Seconds half_life{0};            ///< of use in fair share; 0: all of it counts
  std::string policy;              ///< slurm::SitePolicy::text
};

/// Of `scontrol show config`. Errors: invalid.
[[nodiscard]] Result<Site> read_site(std::string_view config);

/// What one may change: jobs of others need an operator, nodes and AdminComment an administrator.
enum class Rights : std::uint8_t { own, jobs, all };
/// Of `sacctmgr -nP show user NAME format=AdminLevel`.
[[nodiscard]] Rights rights_in(std::string_view sacctmgr);

[[nodiscard]] Abilities abilities_of(const Site& site, const NodeCare& care, Rights rights,
                                     const std::string& user);

}  // namespace schedmate::slurm_live
