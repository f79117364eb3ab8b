// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What schedmated is started with, from its settings.

#include <memory>
#include <optional>
#include <schedmate/job.hpp>
#include <schedmate/scheduler.hpp>
#include <string>
#include <vector>

#include "daemon/notices.hpp"
#include "http/options.hpp"
#include "live/loop.hpp"
#include "replay/bad_nodes.hpp"
#include "settings/session.hpp"

namespace schedmate::daemon {

struct Replay {
  Trace trace;
  ClusterSpec cluster;
  std::int64_t speed = 0;
  std::vector<replay::BadNode> bad_nodes{};
  /// By which it starts jobs itself; nothing: only SchedMate does.
  std::optional<Scheduler> host{};
  Estimator host_estimates{};
};

/// A Slurm beside which the daemon runs.
struct SlurmCluster {
  std::string conf;  ///< slurm.conf of its programs; "": as they find it
};

struct Configuration {
  settings::Session session;  ///< that all this is from
  std::string state_dir;
  std::string writer;                    ///< HOST:PID, of the journal
  std::shared_ptr<const Replay> replay;  ///< null: the cluster is a Slurm
  std::optional<SlurmCluster> slurm{};
  live::LoopOptions loop;
  Scheduler scheduler;      ///< of the loop's pools
  bool usual_span = false;  ///< order.span = "auto": as is usual for the cluster
  std::chrono::milliseconds poll{1000};
  http::ServerOptions http;  ///< doors and access
  std::string ui_folder{};   ///< page::reply_to()
  Notices::Options notices{};
  std::string reader;        ///< socket of schedmate-reader; "": none
  std::string probe_secret;  ///< "": probes are not heard
};

/// A policy as a setting names it, NAME[:key=value,...]. Errors: name the setting.
[[nodiscard]] Result<Scheduler> read_policy(std::string_view key, std::string_view spec,
                                            const ClusterSpec& cluster);

/// Reads the trace and makes the policy. Errors: invalid, not_found, unsupported: what is wrong and
/// which setting says so.
[[nodiscard]] Result<Configuration> configure(const settings::Session& session);

}  // namespace schedmate::daemon
