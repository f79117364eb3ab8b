// SPDX-License-Identifier: Apache-2.0

/// `schedmate cancel`: ends a job, where SchedMate is the scheduler.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/daemon_call.hpp"
#include "screen/fields.hpp"

namespace schedmate {
namespace {

struct CancelFlags {
  client::WhichDaemon which;
  std::string id;
};

Result<int> cancel(const CommandCall& call, const CancelFlags& flags) {
  const auto daemon = client::daemon_of(call.session, flags.which);
  if (!daemon) return tl::unexpected(daemon.error());
  const client::Call ask{.path = client::job_path(flags.id) + "/cancel", .changes = true};
  return show(call, client::ask(*daemon, ask, "schedmate.action.v1"),
              [&](const Document& action, const screen::ScreenStyle& /*style*/) {
                return fmt::format("job {} is being cancelled (action {})\n", flags.id,
                                   screen::word(action, "id"));
              });
}

}  // namespace

Command cancel_command(const Parser& parser) {
  const auto flags = std::make_shared<CancelFlags>();
  parser.app.add_option("ID", flags->id, "id of the job")->type_name("");
  add_daemon(parser.app, flags->which);
  parser.app.footer(
      "`schedmate actions show ACTION` says what came of it.\n\nExample:\n  schedmate cancel 17");
  return {[flags](const CommandCall& call) { return cancel(call, *flags); },
          [flags] { return need(!flags->id.empty(), "cancel", "ID"); }};
}

}  // namespace schedmate
