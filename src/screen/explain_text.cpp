// SPDX-License-Identifier: Apache-2.0
#include "screen/explain_text.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>
#include <iterator>

#include "base/table.hpp"
#include "base/words.hpp"

namespace schedmate::screen {
namespace {

using study::Holder;
using study::Wait;
using study::WaitReason;

constexpr std::size_t most_holders_shown = 3;
constexpr std::size_t most_vcs_shown = 3;

/// As dated traces print it (a date without a zone is read as UTC), else seconds of the trace's
/// own clock.
std::string instant(SimTime when) {
  constexpr SimTime year_2000 = at(946'684'800);
  if (when < year_2000) return fmt::format("{} s", seconds_of(when));
  return fmt::format("{:%F %T}", std::chrono::sys_seconds(when.time_since_epoch()));
}

std::string fate(const study::Explanation& explanation) {
  const JobOutcome& outcome = explanation.outcome;
  if (outcome.status == JobStatus::infeasible) {
    return fmt::format(
        "larger than its VC{}: never queued",
        explanation.profiler_gpus > 0
            ? fmt::format(" without the {} GPUs that the profiler holds", explanation.profiler_gpus)
            : "");
  }
  const std::string waited = "waited " + in_words(outcome.queue);
  if (outcome.status == JobStatus::finished) {
    return fmt::format(
        "started {}, ended {}, {}{}", instant(outcome.start), instant(outcome.end), waited,
        outcome.preemptions > 0 ? fmt::format(", preempted {} times", outcome.preemptions) : "");
  }
  return outcome.started ? "started but never finished" : "never started";
}

/// Of a wait in its VC also what the profiler has of that VC.
std::string holders_text(const Wait& wait, const study::Explanation& explanation,
                         const Trace& trace) {
  std::string text;
  for (std::size_t i = 0; i < std::min(most_holders_shown, wait.holders.size()); ++i) {
    const Holder& holder = wait.holders[i];
    const Job& job = trace.jobs[holder.row];
    fmt::format_to(std::back_inserter(text), "{}{} ({}, {} {} {})", i == 0 ? "" : ", ",
                   printable(job.id), printable(trace.users[job.user]), counted(holder.gpus, "GPU"),
                   holder.overtook ? "started" : "since", instant(holder.since));
  }
  if (wait.holders.size() > most_holders_shown)
    text += fmt::format(" and {} more", wait.holders.size() - most_holders_shown);
  if (explanation.profiler_gpus == 0 || wait.reason == WaitReason::profiler ||
      wait.reason == WaitReason::round)
    return text;
  return fmt::format("{}{}the profiler ({} GPUs all the time)", text, text.empty() ? "" : ", ",
                     explanation.profiler_gpus);
}

std::string_view words_of(WaitReason reason) {
  switch (reason) {
    case WaitReason::gpus_busy:
      return "GPUs busy";
    case WaitReason::fragmentation:
      return "fragmentation: GPUs free, no placement";
    case WaitReason::jobs_ahead:
      return "jobs ahead";
    case WaitReason::vc_limit:
      return "VC limit: room in";
    case WaitReason::round:
      return "next scheduling round";
    case WaitReason::profiler:
      return "profiler";
  }
  return "";
}

std::string reason_text(const Wait& wait) {
  std::string text(words_of(wait.reason));
  for (std::size_t i = 0; i < std::min(most_vcs_shown, wait.elsewhere.size()); ++i)
    text += (i == 0 ? " " : ", ") + printable(wait.elsewhere[i]);
  return text + (wait.elsewhere.size() > most_vcs_shown ? ", ..." : "");
}

}  // namespace

std::string explanation_text(const study::Explanation& explanation, const Trace& trace,
                             std::size_t columns) {
  const Job& job = trace.jobs[explanation.row];
  std::string text =
      fmt::format("job {} under {}: {} in {}, user {}; submitted {}, {}\n", printable(job.id),
                  explanation.label, counted(job.gpus, "GPU"), printable(trace.vcs[job.vc]),
                  printable(trace.users[job.user]), instant(job.submit), fate(explanation));
  if (explanation.waits.empty()) return text + "  it never waited\n";
  const std::vector<TableColumn> names{
      {"from", 1},
      {"to", 1},
      {"for"},
      {"waited for"},
      {.name = "held by", .least = 24, .too_long = TooLong::folded}};
  std::vector<std::vector<Cell>> rows;
  for (const Wait& wait : explanation.waits) {
    rows.push_back({instant(wait.from), instant(wait.to), in_words(wait.to - wait.from),
                    reason_text(wait), holders_text(wait, explanation, trace)});
  }
  return text + table_text(names, rows, columns);
}

}  // namespace schedmate::screen
