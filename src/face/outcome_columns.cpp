// SPDX-License-Identifier: Apache-2.0
#include "face/outcome_columns.hpp"

#include <bit>
#include <string>

namespace schedmate::face {
namespace {

/// "0:1,2;3:0", as the cell of a job's row in LABEL.jobs.csv.
std::string text_of(const Placement& nodes) {
  std::string text;
  for (const Slice& slice : nodes) {
    if (!text.empty()) text += ';';
    text += std::to_string(slice.node);
    char before = ':';
    for (std::uint64_t rest = slice.gpus; rest != 0; rest &= rest - 1) {
      text += before;
      text += std::to_string(std::countr_zero(rest));
      before = ',';
    }
  }
  return text;
}

}  // namespace

void OutcomeColumns::add(const Job& job, const JobOutcome& outcome) {
  const bool finished = outcome.status == JobStatus::finished;
  ids_.add(job.id);
  gpus_.push_back(job.gpus);
  submits_.push_back(seconds_of(job.submit));
  durations_.push_back(job.duration.count());
  starts_.push_back(finished || outcome.started ? seconds_of(outcome.start) : SCHEDMATE_NEVER);
  ends_.push_back(finished ? seconds_of(outcome.end) : SCHEDMATE_NEVER);
  queues_.push_back(finished ? outcome.queue.count() : SCHEDMATE_NEVER);
  preemptions_.push_back(outcome.preemptions);
  evictions_.push_back(outcome.evictions);
  held_.push_back(outcome.held_gpu_s);
  statuses_.push_back(static_cast<std::uint8_t>(outcome.status));
  nodes_.add(text_of(outcome.nodes));
}

void OutcomeColumns::add(const TimelineBin& bin) {
  busy_.push_back(bin.busy_gpus);
  stranded_.push_back(bin.stranded_gpus);
  queued_.push_back(bin.queued_jobs);
  queued_gpus_.push_back(bin.queued_gpus);
  running_.push_back(bin.running_jobs);
  used_.push_back(bin.used_gpus);
}

const schedmate_outcomes* OutcomeColumns::fill(const RunRecord& record) {
  const Trace& trace = record.trace;
  for (std::size_t row = 0; row < trace.jobs.size(); ++row) {
    users_.add(trace.users[trace.jobs[row].user]);
    vcs_.add(trace.vcs[trace.jobs[row].vc]);
    add(trace.jobs[row], record.result.outcomes[row]);
  }
  const Timeline& timeline = record.result.timeline;
  for (const TimelineBin& bin : timeline.bins) add(bin);
  told_ = {.label = record.run.label.c_str(),
           .count = trace.jobs.size(),
           .id = ids_.table(),
           .user = users_.table(),
           .vc = vcs_.table(),
           .gpus = gpus_.data(),
           .submit_s = submits_.data(),
           .duration_s = durations_.data(),
           .start_s = starts_.data(),
           .end_s = ends_.data(),
           .queue_s = queues_.data(),
           .preemptions = preemptions_.data(),
           .evictions = evictions_.data(),
           .held_gpu_s = held_.data(),
           .status = statuses_.data(),
           .nodes = nodes_.table(),
           .bins = timeline.bins.size(),
           .first_s = seconds_of(timeline.first),
           .step_s = timeline.step.count(),
           .busy_gpus = busy_.data(),
           .stranded_gpus = stranded_.data(),
           .queued_jobs = queued_.data(),
           .queued_gpus = queued_gpus_.data(),
           .running_jobs = running_.data(),
           .used_gpus = used_.data(),
           .total_gpus = record.result.total_gpus};
  return &told_;
}

}  // namespace schedmate::face
