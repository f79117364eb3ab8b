// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "study/explain.hpp"

namespace schedmate::study {
namespace {

constexpr std::size_t most_holders_listed = 10;

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

Document explanation_document(const Explanation& explanation, const Trace& trace) {
  const Job& job = trace.jobs[explanation.row];
  const JobOutcome& outcome = explanation.outcome;
  const bool finished = outcome.status == JobStatus::finished;
  Document waits = Document::array();
  for (const Wait& wait : explanation.waits) {
    Document holders = Document::array();
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
  return {{"job_id", job.id},
          {"user", trace.users[job.user]},
          {"vc", trace.vcs[job.vc]},
          {"gpus", job.gpus},
          {"submit_s", seconds_of(job.submit)},
          {"start_s", outcome.started ? Document(seconds_of(outcome.start)) : Document()},
          {"end_s", finished ? Document(seconds_of(outcome.end)) : Document()},
          {"queue_s", outcome.queue.count()},
          {"profiler_gpus", explanation.profiler_gpus},
          {"waits", std::move(waits)}};
}

}  // namespace schedmate::study
