// SPDX-License-Identifier: Apache-2.0

/// `schedmate watch`: what changes on a daemon's cluster, as it changes.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/daemon_call.hpp"
#include "apps/flag_values.hpp"
#include "base/json_reader.hpp"
#include "base/text.hpp"
#include "client/event_reader.hpp"
#include "screen/live_site_text.hpp"

namespace schedmate {
namespace {

struct WatchFlags {
  client::WhichDaemon which;
  double for_s = -1;
};

/// As an element of schedmate.changes.v1; data that is no JSON stays text.
Document change_of(const client::HeardEvent& event) {
  auto data = read_json(event.data, {.deepest = 32});
  const auto id = parse_number<std::int64_t>(event.id);
  return {{"id", id ? Document(*id) : Document(nullptr)},
          {"kind", event.kind.empty() ? "message" : event.kind},
          {"data", data ? std::move(*data) : Document(event.data)}};
}

Result<int> watch(const CommandCall& call, const WatchFlags& flags) {
  const auto daemon = client::daemon_of(call.session, flags.which);
  if (!daemon) return tl::unexpected(daemon.error());
  const auto style = screen::screen_style(call.session.environment);
  client::Following following{.heard = {}, .on_break = {}, .clock = call.session.clock};
  following.heard = [&](const client::HeardEvent& event) {
    const Document change = change_of(event);
    if (call.json) {
      call.console.json_line(change);
    } else if (event.kind == "full") {
      const auto cluster =
          client::ask(*daemon, {.path = "/api/v1/cluster"}, "schedmate.cluster.v1");
      if (cluster) call.console.text(style.fit(screen::cluster_line(*cluster)) + "\n");
    } else {
      call.console.text(screen::change_text(change, style));
    }
    return call.console.flush();  // else nobody reads it any more
  };
  following.on_break = [&](const std::string& why) {
    call.console.warn(why + "; connecting again");
  };
  if (flags.for_s >= 0) following.lasts = std::chrono::nanoseconds(std::llround(flags.for_s * 1e9));
  return done(client::follow_events(daemon->address, following));
}

}  // namespace

Command watch_command(const Parser& parser) {
  const auto flags = std::make_shared<WatchFlags>();
  takes_duration(*parser.app
                      .add_option("--for", flags->for_s,
                                  "how long to watch: seconds, or 90m, 2:00:00; default: until "
                                  "interrupted")
                      ->type_name("TIME"));
  add_daemon(parser.app, flags->which);
  parser.app.footer(
      "With --json each change is a line. It connects again where the connection breaks, and goes\n"
      "on with the change after the last.\n\nExamples:\n  schedmate watch\n"
      "  schedmate watch --json --for 10m");
  return {[flags](const CommandCall& call) { return watch(call, *flags); }};
}

}  // namespace schedmate
