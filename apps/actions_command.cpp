// SPDX-License-Identifier: Apache-2.0

/// `schedmate actions`: what a daemon did or would do, and an operator's decisions about it.

#include "apps/actions_command.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/daemon_call.hpp"
#include "apps/flag_values.hpp"
#include "base/text.hpp"
#include "screen/live_site_text.hpp"

namespace schedmate {
namespace {

constexpr std::array<std::string_view, 5> verbs{"show", "approve", "reject", "undo",
                                                "close-breaker"};

struct ActionsFlags {
  client::WhichDaemon which;
  std::string verb, id, state, since, limit, cursor;
};

Result<int> list_actions(const CommandCall& call, const client::DaemonClient& daemon,
                         const ActionsFlags& flags) {
  const std::string path = "/api/v1/actions";
  Query query{{"state", flags.state}, {"since", flags.since}};
  const std::size_t most = flags.limit.empty() ? 20 : std::stoull(flags.limit);
  if (call.json) {
    query.insert(query.end(), {{"limit", most == 0 ? "" : flags.limit}, {"cursor", flags.cursor}});
    return show(call, client::ask(daemon, {.path = path + query_of(query)}, "schedmate.actions.v1"),
                {});
  }
  const auto actions = all_pages(daemon, {path, query, "schedmate.actions.v1", "actions", most});
  if (!actions) return tl::unexpected(actions.error());
  call.console.text(
      screen::actions_text(*actions, screen::screen_style(call.session.environment), most));
  return 0;
}

Result<int> close_breaker(const CommandCall& call, const client::DaemonClient& daemon) {
  const client::Call ask{.path = "/api/v1/breaker/close", .changes = true};
  return show(call, client::ask(daemon, ask, "schedmate.breaker.v1"),
              [](const Document& /*breaker*/, const screen::ScreenStyle& /*style*/) {
                return std::string("the breaker is closed\n");
              });
}

Result<int> run_actions(const CommandCall& call, const ActionsFlags& flags) {
  const auto daemon = client::daemon_of(call.session, flags.which);
  if (!daemon) return tl::unexpected(daemon.error());
  if (flags.verb.empty()) return list_actions(call, *daemon, flags);
  if (flags.verb == "close-breaker") return close_breaker(call, *daemon);
  client::Call ask{.path = "/api/v1/actions/" + client::percent_encoded(flags.id)};
  if (flags.verb != "show") {
    ask.path += "/" + flags.verb;
    ask.changes = true;
  }
  return show(call, client::ask(*daemon, ask, "schedmate.action.v1"), screen::action_text);
}

Result<void> check_actions(const CLI::App& command, const ActionsFlags& flags) {
  if (flags.verb.empty()) return {};
  if (std::ranges::find(verbs, flags.verb) == verbs.end())
    return fail(ErrorCode::not_found, unknown_name("action's verb", flags.verb, verbs));
  for (const char* const flag : {"--state", "--since", "--limit", "--cursor"})
    if (command.count(flag) > 0)
      return fail(ErrorCode::unsupported,
                  fmt::format("actions {}: takes no {}, which is of the list", flags.verb, flag));
  if (flags.verb == "close-breaker")
    return flags.id.empty() ? Result<void>()
                            : fail(ErrorCode::unsupported, "actions close-breaker: takes no ID");
  return need(!flags.id.empty(), "actions " + flags.verb, "ID");
}

}  // namespace

std::vector<std::string> action_verbs() { return {verbs.begin(), verbs.end()}; }

Command actions_command(const Parser& parser) {
  const auto flags = std::make_shared<ActionsFlags>();
  CLI::App& command = parser.app;
  command
      .add_option("verb", flags->verb,
                  "show, approve, reject or undo one; close-breaker; default: a list")
      ->type_name("VERB");
  command.add_option("ID", flags->id, "id of the action")->type_name("");
  command.add_option("--state", flags->state, "only actions in this state, as waiting")
      ->type_name("WORD");
  takes_whole(
      *command.add_option("--since", flags->since, "only actions after this id")->type_name("N"));
  takes_whole(
      *command
           .add_option("--limit", flags->limit,
                       "newest actions to show, 0 = all; default: 20; with --json: of a page")
           ->type_name("N"));
  command.add_option("--cursor", flags->cursor, "with --json: `next` of the page before")
      ->type_name("N");
  add_daemon(command, flags->which);
  command.footer(
      "Examples:\n  schedmate actions --state waiting\n  schedmate actions show 12\n"
      "  schedmate actions approve 12\n  schedmate actions undo 12\n"
      "  schedmate actions close-breaker");
  return {.run = [flags](const CommandCall& call) { return run_actions(call, *flags); },
          .check = [&command, flags] { return check_actions(command, *flags); }};
}

}  // namespace schedmate
