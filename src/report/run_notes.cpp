// SPDX-License-Identifier: Apache-2.0
#include "report/run_notes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/words.hpp"

namespace schedmate::report {
namespace {

/// One part in so many of the cluster is much.
constexpr std::int64_t much = 10;

/// "8 of them lent by vc1, 8 more than the cluster has".
std::string origin_of(const ProfilerShare& share) {
  const std::int64_t added = share.gpus - share.borrowed_gpus;
  std::vector<std::string> parts;
  if (share.borrowed_gpus > 0)
    parts.push_back(
        fmt::format("{} lent by {}", share.borrowed_gpus, fmt::join(share.lenders, ", ")));
  if (added > 0) parts.push_back(fmt::format("{} more than the cluster has", added));
  if (added < 0) parts.push_back(fmt::format("{} of these used by nobody", -added));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::vector<std::string> notes_of(const RunSummary& run) {
  std::vector<std::string> notes;
  for (const std::string& what : run.run.invented) notes.push_back("INVENTED: " + what);
  if (!run.run.oracle.empty())
    notes.push_back(fmt::format(
        "looks into the future (estimate {}): for comparison only, nobody can have this",
        run.run.oracle));
  if (run.run.takes_advice)
    notes.push_back(
        fmt::format("SchedMate's advice was used for {} of {} jobs", run.advised, run.jobs));
  std::ranges::copy(profiler_notes(run), std::back_inserter(notes));
  return notes;
}

}  // namespace

std::vector<std::string> profiler_notes(const RunSummary& run) {
  if (!run.run.profiler) return {};
  const ProfilerShare& share = *run.run.profiler;
  const std::int64_t added = share.gpus - share.borrowed_gpus;
  std::vector<std::string> notes{fmt::format(
      "its profiler holds {} GPUs all the time ({}); each job of up to {} GPUs runs there first, "
      "for up to {}{}",
      share.gpus, origin_of(share), share.max_gpus, in_words(share.time),
      share.grew == 0   ? ""
      : share.grew == 1 ? "; once it took one more node"
                        : fmt::format("; {} times it took one more node", share.grew))};
  if (share.borrowed_gpus > 0 && share.borrowed_gpus * much >= run.total_gpus)
    notes.push_back(fmt::format(
        "WARNING: the profiler takes {:.0f} % of the cluster's {} GPUs from all other work, so "
        "much of the difference to other policies is the profiler's (profiler_nodes=1 takes less, "
        "profiler=false nothing)",
        100 * static_cast<double>(share.borrowed_gpus) / run.total_gpus, run.total_gpus));
  if (added > 0 && added * much >= run.total_gpus)
    notes.push_back(fmt::format(
        "WARNING: with its profiler it has {} GPUs, other policies have {}: an unfair comparison "
        "(a VC lends one node at most, and keeps one; profiler=false gives it the same)",
        run.total_gpus + added, run.total_gpus));
  return notes;
}

std::vector<RunNote> run_notes(std::span<const RunSummary> runs) {
  std::vector<RunNote> notes;
  for (const RunSummary& run : runs) {
    for (std::string& text : notes_of(run)) {
      const auto known = std::ranges::find(notes, text, &RunNote::text);
      if (known != notes.end())
        known->labels.push_back(run.run.label);
      else
        notes.push_back({{run.run.label}, std::move(text)});
    }
  }
  return notes;
}

}  // namespace schedmate::report
