// SPDX-License-Identifier: Apache-2.0
#include "screen/why_text.hpp"

#include <fmt/format.h>

#include "base/words.hpp"
#include "screen/eta_text.hpp"

namespace schedmate::screen {
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

}  // namespace

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

}  // namespace schedmate::screen
