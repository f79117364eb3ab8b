// SPDX-License-Identifier: Apache-2.0

/// `schedmate why`: what one job waits for, and what would start it earlier.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/command.hpp"
#include "apps/queue_flags.hpp"
#include "queue/why.hpp"
#include "screen/why_text.hpp"

namespace schedmate {
namespace {

Result<int> print_why(const CommandCall& call, const queue::EtaRequest& request) {
  const auto why = queue::why(call.session, request);
  if (!why) return tl::unexpected(why.error());
  if (call.json)
    call.console.json(queue::why_document(*why));
  else
    call.console.text(screen::why_text(*why));
  return 0;
}

}  // namespace

Command why_command(const Parser& parser) {
  const auto request = std::make_shared<queue::EtaRequest>();
  add_queue_flags(parser, *request);
  parser.app.footer("Examples:\n  schedmate why 17\n  schedmate why 17 --from queue.txt");
  return {[request](const CommandCall& call) { return print_why(call, *request); },
          [request] { return need(!request->job.empty(), "why", "ID"); }};
}

}  // namespace schedmate
