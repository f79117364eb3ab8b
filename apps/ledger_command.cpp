// SPDX-License-Identifier: Apache-2.0

/// `schedmate ledger`: GPU-hours used, lost and saved, as a daemon counts them.

#include <CLI/CLI.hpp>
#include <memory>

#include "apps/daemon_call.hpp"
#include "screen/live_site_text.hpp"

namespace schedmate {

Command ledger_command(const Parser& parser) {
  const auto which = std::make_shared<client::WhichDaemon>();
  add_daemon(parser.app, *which);
  parser.app.footer("Example:\n  schedmate ledger --json");
  return {[which](const CommandCall& call) -> Result<int> {
    const auto daemon = client::daemon_of(call.session, *which);
    if (!daemon) return tl::unexpected(daemon.error());
    return show(call, client::ask(*daemon, {.path = "/api/v1/ledger"}, "schedmate.ledger.v1"),
                screen::ledger_text);
  }};
}

}  // namespace schedmate
