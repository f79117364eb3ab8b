// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <iterator>
#include <nlohmann/json.hpp>

#include "study/explain.hpp"
#include "base/words.hpp"

namespace schedmate {
namespace {

constexpr std::size_t most_holders_shown = 3;
constexpr std::size_t most_holders_listed = 10;
constexpr std::size_t most_vcs_shown = 3;

std::string fate(const JobOutcome& outcome) {
  if (outcome.status == JobStatus::infeasible) return "larger than its VC: never queued";
  const std::string waited = "waited " + in_words(outcome.queue);
  if (outcome.status == JobStatus::finished) {
    return fmt::format(
        "started {}, ended {}, {}{}", seconds_of(outcome.start), seconds_of(outcome.end), waited,
        outcome.preemptions > 0 ? fmt::format(", preempted {} times", outcome.preemptions) : "");
  }
  return outcome.started ? "started but never finished" : "never started";
}

std::string holders_text(const Wait& wait, const Trace& trace) {
  std::string text;
  for (std::size_t i = 0; i < std::min(most_holders_shown, wait.holders.size()); ++i) {
    const Holder& holder = wait.holders[i];
    const Job& job = trace.jobs[holder.row];
    fmt::format_to(std::back_inserter(text), "{}{} ({}, {} GPUs {} {})", i == 0 ? "" : ", ",
                   printable(job.id), printable(trace.users[job.user]), holder.gpus,
                   holder.overtook ? "started" : "since", seconds_of(holder.since));
  }
  if (wait.holders.size() > most_holders_shown)
    text += fmt::format(" and {} more", wait.holders.size() - most_holders_shown);
  return text;
}

std::string reason_text(const Wait& wait) {
  std::string text(in_words(wait.reason));
  for (std::size_t i = 0; i < std::min(most_vcs_shown, wait.elsewhere.size()); ++i)
    text += (i == 0 ? " " : ", ") + printable(wait.elsewhere[i]);
  return text + (wait.elsewhere.size() > most_vcs_shown ? ", ..." : "");
}

}  // namespace

std::string_view to_string(WaitReason reason) {
  switch (reason) {
    case WaitReason::gpus_busy:
      return "gpus_busy";
    case WaitReason::fragmentation:
      return "fragmentation";
    case WaitReason::jobs_ahead:
      return "jobs_ahead";
    case WaitReason::vc_limit:
      return "vc_limit";
    case WaitReason::round:
      return "round";
    case WaitReason::profiler:
      return "profiler";
  }
  return "";
}

std::string_view in_words(WaitReason reason) {
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

std::string explanation_text(const Explanation& explanation, const Trace& trace) {
  const Job& job = trace.jobs[explanation.row];
  std::string text = fmt::format("job {} under {}: {} GPUs in {}, user {}; submitted {}, {}\n",
                                 printable(job.id), explanation.label, job.gpus,
                                 printable(trace.vcs[job.vc]), printable(trace.users[job.user]),
                                 seconds_of(job.submit), fate(explanation.outcome));
  if (explanation.waits.empty()) return text + "  it never waited\n";
  std::vector<std::vector<std::string>> rows{{"  from_s", "to_s", "for", "waited for", "held by"}};
  for (const Wait& wait : explanation.waits) {
    rows.push_back({fmt::format("  {}", seconds_of(wait.from)), fmt::to_string(seconds_of(wait.to)),
                    in_words(wait.to - wait.from), reason_text(wait), holders_text(wait, trace)});
  }
  return text + aligned(rows);
}

std::string explanation_json(const Explanation& explanation, const Trace& trace) {
  using Json = nlohmann::ordered_json;
  const Job& job = trace.jobs[explanation.row];
  const JobOutcome& outcome = explanation.outcome;
  const bool finished = outcome.status == JobStatus::finished;
  Json waits = Json::array();
  for (const Wait& wait : explanation.waits) {
    Json holders = Json::array();
    for (const Holder& holder : wait.holders) {
      if (holders.size() == most_holders_listed) break;
      const Job& other = trace.jobs[holder.row];
      holders.push_back({{"job_id", other.id},
                         {"user", trace.users[other.user]},
                         {"gpus", holder.gpus},
                         {"since_s", seconds_of(holder.since)},
                         {"gpu_s", holder.gpu_s},
                         {"overtook", holder.overtook}});
    }
    waits.push_back({{"from_s", seconds_of(wait.from)},
                     {"to_s", seconds_of(wait.to)},
                     {"duration_s", (wait.to - wait.from).count()},
                     {"reason", to_string(wait.reason)},
                     {"elsewhere", wait.elsewhere},
                     {"holders", wait.holders.size()},
                     {"held_by", std::move(holders)}});
  }
  const Json document = {{"job_id", job.id},
                         {"user", trace.users[job.user]},
                         {"vc", trace.vcs[job.vc]},
                         {"gpus", job.gpus},
                         {"submit_s", seconds_of(job.submit)},
                         {"start_s", outcome.started ? Json(seconds_of(outcome.start)) : Json()},
                         {"end_s", finished ? Json(seconds_of(outcome.end)) : Json()},
                         {"queue_s", outcome.queue.count()},
                         {"waits", std::move(waits)}};
  return document.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace schedmate
