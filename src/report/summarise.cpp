// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <schedmate/report.hpp>

#include "report/distribution.hpp"
#include "report/fairness.hpp"
#include "report/groups.hpp"

namespace schedmate {
namespace {

constexpr double no_value = std::numeric_limits<double>::quiet_NaN();

struct Finished {
  std::int64_t jct_s = 0;
  std::uint32_t row = 0;
  auto operator<=>(const Finished&) const = default;
};

void count_outcomes(const RunRecord& record, RunSummary& summary) {
  const std::vector<Job>& jobs = record.trace.jobs;
  summary.advised = static_cast<std::uint64_t>(std::ranges::count(record.advised, 1));
  SimTime last_end = SimTime::min();
  for (std::size_t row = 0; row < jobs.size(); ++row) {
    const JobOutcome& outcome = record.result.outcomes[row];
    ++(outcome.status == JobStatus::finished     ? summary.finished
       : outcome.status == JobStatus::infeasible ? summary.infeasible
                                                 : summary.stalled);
    if (outcome.status == JobStatus::finished) last_end = std::max(last_end, outcome.end);
    const Seconds overhead =
        jobs[row].gpus <= 8 ? record.run.overhead_small : record.run.overhead_large;
    summary.preemptions += outcome.preemptions;
    summary.lost_gpu_s += outcome.lost_gpu_s;
    summary.wasted_gpu_s += outcome.preemptions * overhead.count() * jobs[row].gpus;
  }
  summary.jobs = jobs.size();
  if (summary.finished > 0) summary.makespan = last_end - jobs.front().submit;
}

// Shares of capacity between the first and the last submission.
void measure_use(const RunRecord& record, RunSummary& summary) {
  const std::vector<Job>& jobs = record.trace.jobs;
  const Seconds window = jobs.empty() ? Seconds(0) : jobs.back().submit - jobs.front().submit;
  const double gpus = record.result.total_gpus;
  double offered_gpu_s = 0;
  for (std::size_t row = 0; row < jobs.size(); ++row) {
    if (record.result.outcomes[row].status == JobStatus::infeasible) continue;
    offered_gpu_s += static_cast<double>(jobs[row].duration.count()) * jobs[row].gpus;
  }
  summary.utilisation = summary.fragmentation = summary.offered_load = no_value;
  if (window == Seconds(0) || gpus == 0) return;
  summary.utilisation = record.result.timeline.submitting.busy_gpus / gpus;
  summary.fragmentation = record.result.timeline.submitting.stranded_gpus / gpus;
  summary.offered_load = offered_gpu_s / (gpus * static_cast<double>(window.count()));
}

std::vector<Finished> finished_by_jct(const RunRecord& record) {
  std::vector<Finished> finished;
  for (std::uint32_t row = 0; row < record.trace.jobs.size(); ++row) {
    const JobOutcome& outcome = record.result.outcomes[row];
    if (outcome.status != JobStatus::finished) continue;
    finished.push_back({(outcome.end - record.trace.jobs[row].submit).count(), row});
  }
  std::ranges::sort(finished);
  return finished;
}

void measure_groups(const RunRecord& record, std::span<const Finished> finished,
                    RunSummary& summary) {
  const Trace& trace = record.trace;
  report::Groups vcs(trace.vcs);
  report::Groups sizes(report::size_classes());
  report::Groups users(trace.users);
  for (std::size_t row = 0; row < trace.jobs.size(); ++row) {
    if (record.result.outcomes[row].status != JobStatus::finished) continue;
    const Job& job = trace.jobs[row];
    vcs.expect(job.vc);
    sizes.expect(report::size_class(job.gpus));
    users.expect(job.user);
  }
  for (const Finished& each : finished) {
    const Job& job = trace.jobs[each.row];
    const JobOutcome& outcome = record.result.outcomes[each.row];
    vcs.add(job.vc, job, outcome);
    sizes.add(report::size_class(job.gpus), job, outcome);
    users.add(job.user, job, outcome);
  }
  summary.by_vc = vcs.summaries();
  summary.by_size = sizes.summaries();
  summary.by_user = users.summaries();
  std::erase_if(summary.by_user, [](const GroupSummary& user) { return user.jobs == 0; });
  summary.jain_index = report::jain_index(users.slowdowns());
}

void measure_distributions(const RunRecord& record, std::span<const Finished> finished,
                           RunSummary& summary) {
  std::vector<double> values(finished.size());
  std::ranges::transform(finished, values.begin(),
                         [](const Finished& each) { return static_cast<double>(each.jct_s); });
  summary.jct_s = report::distribution(values);
  summary.jct_cdf = report::cumulative(values);

  std::vector<double> slowdowns;
  values.clear();
  for (std::size_t row = 0; row < record.trace.jobs.size(); ++row) {
    const Job& job = record.trace.jobs[row];
    const JobOutcome& outcome = record.result.outcomes[row];
    if (outcome.status != JobStatus::finished) continue;
    values.push_back(static_cast<double>(outcome.queue.count()));
    slowdowns.push_back(report::bounded_slowdown(outcome.end - job.submit, job.duration));
  }
  std::ranges::sort(values);
  summary.queue_s = report::distribution(values);
  summary.queue_cdf = report::cumulative(values);

  std::ranges::sort(slowdowns);
  summary.slowdown = report::distribution(slowdowns);

  values = report::finish_fairness(record);
  std::ranges::sort(values);
  summary.finish_fairness = report::distribution(values);
  const auto fair = std::ranges::upper_bound(values, 1.0);
  summary.share_worse_than_fair =
      static_cast<double>(values.end() - fair) / static_cast<double>(values.size());
}

}  // namespace

RunSummary summarise(const RunRecord& record) {
  RunSummary summary;
  summary.run = record.run;
  summary.total_gpus = record.result.total_gpus;
  summary.timeline = record.result.timeline;
  summary.peak_queue = record.result.timeline.peak_queue;
  const std::vector<Finished> finished = finished_by_jct(record);
  count_outcomes(record, summary);
  measure_use(record, summary);
  measure_groups(record, finished, summary);
  measure_distributions(record, finished, summary);
  return summary;
}

}  // namespace schedmate
