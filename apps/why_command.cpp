// SPDX-License-Identifier: Apache-2.0

/// `schedmate why`: what one job waits for, and what would start it earlier.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/command.hpp"
#include "apps/eta_text.hpp"
#include "apps/screen.hpp"
#include "queue/why.hpp"

namespace schedmate {
namespace {

using queue::Why;

std::string after(SimTime when, SimTime now) {
  if (when == never) return "never";
  return when <= now ? "now" : "in " + in_words(when - now);
}

std::string waiting_text(const Why& why) {
  const queue::EtaJob& job = why.job;
  std::string text = fmt::format("  why        {}", job.text);
  if (!job.scheduler_says.empty()) text += fmt::format(" (Slurm says {})", job.scheduler_says);
  text += "\n";
  if (why.before.jobs > 0)
    text += fmt::format("  before it  {} jobs of {} users start first, for {} GPUs\n",
                        why.before.jobs, why.before.users, why.before.gpus);
  for (const Why::Awaited& each : why.awaited)
    text +=
        fmt::format("  waits for  the end of {}{}{} ({:.0f} %)\n", each.id,
                    each.user.empty() ? "" : fmt::format(" ({}, {} GPUs)", each.user, each.gpus),
                    each.end ? ", in " + span_text(*each.end, why.now) : "", 100 * each.share);
  text += job.start->p50 == never && job.start->p10 == never
              ? std::string("  starts     the queue does not tell\n")
              : fmt::format("  starts in  {}\n", span_text(*job.start, why.now));
  return text;
}

std::string earlier_text(const Why& why) {
  if (why.earlier.empty()) return "  earlier    nothing that was tried starts it earlier\n";
  std::string text;
  for (const Why::Change& each : why.earlier)
    text += fmt::format("  earlier    {} instead of {} with {} ({:.0f} % of the samples)\n",
                        after(each.what.after, why.now), after(each.what.before, why.now),
                        each.text, 100 * each.what.share);
  return text;
}

std::string why_text(const Why& why) {
  const queue::EtaJob& job = why.job;
  std::string text =
      fmt::format("{}: {}, {} GPUs, partition {}, {} {}\n", job.id, job.user, job.gpus,
                  job.partition, job.started ? "runs since" : "waits since",
                  in_words(why.now - job.started.value_or(job.submit)));
  if (!job.started) text += waiting_text(why);
  text += fmt::format("  ends in    {}\n", span_text(job.end, why.now));
  if (!job.started) text += earlier_text(why);
  text += fmt::format(
      "  rests on   {} samples under {}, {} past runs; run times of {} jobs from their logs and "
      "advice, of {} from their users' own runs, of {} from the site's; {}\n",
      why.samples, policy_of_queue(why.policy, !why.site_settings.empty()), why.rests_on.past_runs,
      why.rests_on.of_job, why.rests_on.of_user, why.rests_on.of_site,
      why.calibrated_on > 0 ? fmt::format("{} earlier forecasts", why.calibrated_on)
                            : "not calibrated");
  for (const std::string& note : why.notes) text += fmt::format("note: {}\n", note);
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
  parser.app.footer("Example:\n  schedmate why 17 --from queue.txt");
  return {[request](const CommandCall& call) { return print_why(call, *request); },
          [request] {
            if (request->job.empty()) return need(false, "why", "ID");
            return need(!request->from.empty(), "why", "--from WHERE");
          }};
}

}  // namespace schedmate
