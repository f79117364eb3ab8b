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
#include "llm/http.hpp"
#include "ray_live/cluster.hpp"
#include "replay/bad_nodes.hpp"
#include "settings/session.hpp"
#include "slurm_live/site.hpp"

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

struct Ray {
  llm::Url address;
  std::string token;
  ray_live::Options options;
};

struct Configuration {
  settings::Session session;  ///< that all this is from
  std::string state_dir;
  std::string writer;                    ///< HOST:PID, of the journal
  std::shared_ptr<const Replay> replay;  ///< null: the cluster is a Ray or a Slurm
  std::optional<Ray> ray{};
  struct {
    std::string conf{};  ///< of Slurm's programs; "": as they find it
    std::string via{};   ///< auto, cli, libslurm
    std::string module{};
    slurm_live::NodeCare node_care{};
  } slurm{};
  live::LoopOptions loop;  ///< with an order's span 0 where it is "auto"
  Scheduler scheduler;     ///< of the loop's pools
  std::chrono::milliseconds poll{1000};
  http::ServerOptions http;  ///< doors and access
  std::string ui_folder{};   ///< page::reply_to()
  Notices::Options notices{};
  std::string reader;        ///< socket of schedmate-reader; "": none
  std::string probe_secret;  ///< "": probes are not heard
};

/// A policy as a setting names it, NAME[:key=value,...]. Its estimator is what `estimate` says,
/// else its row's; but the usual one, where there is one, in place of none and of one that reads
/// what only a replay knows. Errors: name the setting.
[[nodiscard]] Result<Scheduler> read_policy(std::string_view key, std::string_view spec,
                                            const ClusterSpec& cluster,
                                            std::string_view usual_estimator = "");

/// Reads the trace and makes the policy. Errors: invalid, not_found, unsupported: what is wrong and
/// which setting says so.
[[nodiscard]] Result<Configuration> configure(const settings::Session& session);

}  // namespace schedmate::daemon
