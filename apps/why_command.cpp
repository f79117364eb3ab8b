// SPDX-License-Identifier: Apache-2.0

/// `schedmate why`: what one job waits for, and what would start it earlier.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/command.hpp"
#include "apps/eta_text.hpp"
#include "apps/screen.hpp"
#include "base/words.hpp"
#include "queue/why.hpp"

namespace schedmate {
namespace {

using queue::Why;

std::string after(SimTime when, SimTime now) {
  if (when == never) return "never";
  return when <= now ? "now" : "in " + in_words(when - now);
}

std::string span_after(const InstantQuantiles& told, SimTime now) {
  if (told.p10 == never) return "never";
  if (told.p50 == never)
    return fmt::format("never in most samples, within {} in a tenth", in_words(told.p10 - now));
  return "in " + span_text(told, now);
}

std::string waiting_text(const Why& why) {
  const queue::EtaJob& job = why.job;
  std::string text = fmt::format("  why        {}", printable(job.text));
  if (!job.scheduler_says.empty())
    text += fmt::format(" (Slurm says {})", printable(job.scheduler_says));
  text += "\n";
  if (why.before.jobs > 0)
    text +=
        fmt::format("  before it  {} of {} start first, for {}\n", counted(why.before.jobs, "job"),
                    counted(why.before.users, "user"), counted(why.before.gpus, "GPU"));
  for (const Why::Awaited& each : why.awaited) {
    const std::string whose = each.user.empty() ? ""
                                                : fmt::format(" ({}, {})", printable(each.user),
                                                              counted(each.gpus, "GPU"));
    text += fmt::format("  waits for  the end of {}{}{} ({:.0f} %)\n", printable(each.id), whose,
                        each.end ? ", " + span_after(*each.end, why.now) : "", 100 * each.share);
  }
  text +=
      fmt::format("  starts     {}\n", job.start->p10 == never ? "the queue does not tell"
                                                               : span_after(*job.start, why.now));
  return text;
}

std::string earlier_text(const Why& why) {
  if (why.earlier.empty()) return "  earlier    nothing that was tried starts it earlier\n";
  std::string text;
  for (const Why::Change& each : why.earlier)
    text += fmt::format("  earlier    {} instead of {}: {} ({:.0f} % of the samples)\n",
                        after(each.what.after, why.now), after(each.what.before, why.now),
                        printable(each.text), 100 * each.what.share);
  return text;
}

std::string why_text(const Why& why) {
  const queue::EtaJob& job = why.job;
  std::string text = fmt::format("{}: {}, {}, partition {}, {} for {}\n", printable(job.id),
                                 printable(job.user), counted(job.gpus, "GPU"),
                                 printable(job.partition), job.started ? "running" : "waiting",
                                 in_words(why.now - job.started.value_or(job.submit)));
  if (!job.started) text += waiting_text(why);
  text += fmt::format("  ends       {}\n", span_after(job.end, why.now));
  if (!job.started) text += earlier_text(why);
  text += fmt::format(
      "  rests on   {} under {}, {}; run times of {} from their logs and advice, of {} from their "
      "users' own runs, of {} from the site's; {}\n",
      counted(why.samples, "sample"), policy_of_queue(why.policy, !why.site_settings.empty()),
      counted(why.rests_on.past_runs, "past run"), counted(why.rests_on.of_job, "job"),
      why.rests_on.of_user, why.rests_on.of_site,
      why.calibrated_on > 0 ? counted(why.calibrated_on, "earlier forecast") : "not calibrated");
  for (const std::string& note : why.notes) text += fmt::format("note: {}\n", printable(note));
  return text;
}

Result<int> print_why(const CommandCall& call, const queue::EtaRequest& request) {
  const auto why = queue::why(call.session, request);
  if (!why) return tl::unexpected(why.error());
  if (call.json)
    call.console.json(queue::why_document(*why));
  else
    call.console.text(why_text(*why));
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
