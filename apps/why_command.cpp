// SPDX-License-Identifier: Apache-2.0

/// `schedmate why`: what one job waits for, and what would start it earlier.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/daemon_call.hpp"
#include "apps/queue_flags.hpp"
#include "queue/why.hpp"
#include "screen/live_jobs_text.hpp"
#include "screen/why_text.hpp"

namespace schedmate {
namespace {

struct WhyFlags {
  queue::EtaRequest request;
  client::WhichDaemon which;
};

/// Nothing where no daemon is asked, or the one that was found does not know the job: `told`.
Result<std::optional<int>> print_live_why(const CommandCall& call, const WhyFlags& flags,
                                          DaemonsWord& told) {
  if (is_of_queue(flags.request)) return std::nullopt;
  const auto daemon = client::daemon_if_any(call.session, flags.which);
  if (!daemon) return tl::unexpected(daemon.error());
  if (!*daemon) return std::nullopt;
  auto why = ask_about_job(**daemon, flags.which, client::job_path(flags.request.job) + "/why",
                           "schedmate.why.v1");
  if (!why) return tl::unexpected(why.error());
  told = std::move(*why);
  if (!told.document) return std::nullopt;
  return show(call, *told.document,
              [&](const Document& document, const screen::ScreenStyle& style) {
                return screen::live_why_text(document, cluster_now(**daemon), style);
              })
      .map([](int code) { return std::optional(code); });
}

Result<int> print_why(const CommandCall& call, const WhyFlags& flags) {
  DaemonsWord told;
  const auto shown = print_live_why(call, flags, told);
  if (!shown) return tl::unexpected(shown.error());
  if (*shown) return **shown;
  const auto why = queue::why(call.session, flags.request);
  if (!why) return tl::unexpected(behind(told, why.error()));
  if (call.json)
    call.console.json(queue::why_document(*why));
  else
    call.console.text(screen::why_text(*why));
  return 0;
}

}  // namespace

Command why_command(const Parser& parser) {
  const auto flags = std::make_shared<WhyFlags>();
  add_queue_flags(parser, flags->request);
  add_optional_daemon(parser.app, flags->which);
  parser.app.footer("Examples:\n  schedmate why 17\n  schedmate why 17 --from queue.txt");
  return {[flags](const CommandCall& call) { return print_why(call, *flags); },
          [flags]() -> Result<void> {
            if (auto id = need(!flags->request.job.empty(), "why", "ID"); !id) return id;
            return check_place("why", flags->request, flags->which);
          }};
}

}  // namespace schedmate
