// SPDX-License-Identifier: Apache-2.0

/// `schedmate cluster`: nodes, GPUs and queue, as a daemon sees them.

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/daemon_call.hpp"
#include "screen/live_site_text.hpp"

namespace schedmate {
namespace {

struct ClusterFlags {
  client::WhichDaemon which;
  bool nodes = false;
};

Result<int> print_cluster(const CommandCall& call, const ClusterFlags& flags) {
  const auto daemon = client::daemon_of(call.session, flags.which);
  if (!daemon) return tl::unexpected(daemon.error());
  const client::Call actions{.path = "/api/v1/actions"};
  return show(call, client::ask(*daemon, {.path = "/api/v1/cluster"}, "schedmate.cluster.v1"),
              [&](const Document& cluster, const screen::ScreenStyle& style) {
                return screen::live_cluster_text(cluster, style, flags.nodes) +
                       screen::undecided_text(client::ask(*daemon, actions, "schedmate.actions.v1"),
                                              cluster, style);
              });
}

}  // namespace

Command cluster_command(const Parser& parser) {
  const auto flags = std::make_shared<ClusterFlags>();
  parser.app.add_flag("--nodes", flags->nodes, "a row for each node instead of each partition");
  add_daemon(parser.app, flags->which);
  parser.app.footer("Examples:\n  schedmate cluster\n  schedmate cluster --nodes");
  return {[flags](const CommandCall& call) { return print_cluster(call, *flags); }};
}

}  // namespace schedmate
