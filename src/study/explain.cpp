// SPDX-License-Identifier: Apache-2.0
#include "study/explain.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

namespace schedmate::study {
namespace {

constexpr SimTime beginning = SimTime::min();

bool is_queued(const SimOptions::Moment& moment, JobId job) {
  const JobStanding* standing = moment.standing.find(job);
  return standing != nullptr && standing->phase == JobPhase::queued;
}

/// Jobs that hold GPUs, each with how many.
std::vector<std::pair<JobId, int>> running(const Cluster& cluster) {
  std::vector<JobId> on_gpus;
  for (std::uint32_t node = 0; node < cluster.node_end(); ++node) {
    if (!cluster.active(node)) continue;
    for (int gpu = 0; gpu < cluster.gpus_per_node(); ++gpu) {
      const auto residents = cluster.residents(node, gpu);
      on_gpus.insert(on_gpus.end(), residents.begin(), residents.end());
    }
  }
  std::ranges::sort(on_gpus);
  std::vector<std::pair<JobId, int>> jobs;
  for (const JobId job : on_gpus) {
    if (jobs.empty() || jobs.back().first != job) jobs.emplace_back(job, 0);
    ++jobs.back().second;
  }
  return jobs;
}

}  // namespace

Explainer::Explainer(const Subject& subject)
    : row_(subject.row),
      gpus_(subject.trace.jobs[subject.row].gpus),
      profiler_gpus_(subject.profiler_gpus) {
  const std::string& own = subject.trace.vcs[subject.trace.jobs[subject.row].vc];
  const auto& partitions = subject.cluster.partitions;
  for (const PartitionSpec& partition : partitions) {
    vcs_.insert(partition.name);
    if (partition.name == own || partitions.size() == 1) continue;
    room_[partition.name] = {{beginning, Cluster(partition, subject.placer).fits(gpus_)}};
  }
}

void Explainer::look_around(const SimOptions::Moment& moment) {
  const auto vc = room_.find(moment.vc);
  if (vc == room_.end()) return;
  const bool room = moment.cluster.fits(gpus_);
  if (vc->second.rbegin()->second != room) vc->second.insert_or_assign(moment.now, room);
}

void Explainer::follow(const SimOptions::Moment& moment) {
  Queue& queue = queues_[moment.vc];
  if (!queue.job) find(moment, queue);
  if (!queue.job) return;
  if (queue.waiting) close(moment.now, queue);
  const bool waited = std::exchange(queue.waiting, is_queued(moment, *queue.job));
  if (!queue.waiting) return;
  if (!waited) queue.since = moment.now;
  judge(moment, queue);
}

void Explainer::find(const SimOptions::Moment& moment, Queue& queue) {
  const JobId end = moment.standing.end();
  const auto is_it = [&](JobId job) {
    const JobStanding* standing = moment.standing.find(job);
    return standing != nullptr && standing->row == row_;
  };
  while (queue.scanned < end && !is_it(queue.scanned))
    queue.scanned = JobId{index_of(queue.scanned) + 1};
  if (queue.scanned == end) return;
  queue.job = queue.scanned;
  const SimTime entered = moment.jobs.at(*queue.job).entered;
  if (entered < moment.now) add({entered, moment.now, WaitReason::round, {}, {}});
}

void Explainer::judge(const SimOptions::Moment& moment, Queue& queue) {
  queue.checked = moment.now;
  queue.holders.clear();
  for (const auto& [job, gpus] : running(moment.cluster)) {
    const SimTime since = moment.jobs.at(job).run_since;
    queue.holders.push_back({moment.standing.at(job).row, gpus, since, 0, since >= queue.since});
  }
  queue.reason = reason(moment, queue);
}

WaitReason Explainer::reason(const SimOptions::Moment& moment, const Queue& queue) const {
  if (!vcs_.contains(moment.vc)) return WaitReason::profiler;
  if (moment.cluster.fits(gpus_)) return WaitReason::jobs_ahead;
  // Would it fit if those that were started since it waits had not been?
  int overtaken_gpus = moment.cluster.free_gpus();
  for (const Holder& holder : queue.holders) {
    if (holder.overtook) overtaken_gpus += holder.gpus;
  }
  if (overtaken_gpus >= gpus_) {
    Cluster without = moment.cluster;
    for (const auto& [job, gpus] : running(moment.cluster)) {
      if (moment.jobs.at(job).run_since >= queue.since) without.release(job);
    }
    if (without.fits(gpus_)) return WaitReason::jobs_ahead;
  }
  return moment.cluster.free_gpus() >= gpus_ ? WaitReason::fragmentation : WaitReason::gpus_busy;
}

void Explainer::close(SimTime until, Queue& queue) {
  const bool limited =
      queue.reason == WaitReason::gpus_busy || queue.reason == WaitReason::fragmentation;
  for (SimTime from = queue.checked; from < until;) {
    const SimTime to = limited ? std::min(until, next_change(from)) : until;
    Wait wait{from, to, queue.reason, queue.holders, {}};
    for (Holder& holder : wait.holders) holder.gpu_s = holder.gpus * (to - from).count();
    if (limited) wait.elsewhere = room_at(from);
    if (!wait.elsewhere.empty()) wait.reason = WaitReason::vc_limit;
    add(std::move(wait));
    from = to;
  }
}

void Explainer::add(Wait wait) {
  const bool goes_on =
      !waits_.empty() && waits_.back().reason == wait.reason && waits_.back().to == wait.from;
  if (!goes_on) {
    settle();
    waits_.push_back({wait.from, wait.to, wait.reason, {}, {}});
  }
  Wait& last = waits_.back();
  last.to = wait.to;
  for (const Holder& holder : wait.holders) {
    const auto [known, fresh] = held_.try_emplace({holder.row, holder.since}, holder);
    if (!fresh) known->second.gpu_s += holder.gpu_s;
  }
  for (std::string& vc : wait.elsewhere) {
    if (std::ranges::find(last.elsewhere, vc) == last.elsewhere.end())
      last.elsewhere.push_back(std::move(vc));
  }
}

void Explainer::settle() {
  if (waits_.empty()) return;
  auto& holders = waits_.back().holders;
  for (const auto& [run, holder] : held_) holders.push_back(holder);
  std::ranges::stable_sort(holders, std::greater(), [](const Holder& holder) {
    return std::pair(holder.overtook, holder.gpu_s);
  });
  held_.clear();
}

std::vector<std::string> Explainer::room_at(SimTime time) const {
  std::vector<std::string> vcs;
  for (const auto& [vc, steps] : room_) {
    if (std::prev(steps.upper_bound(time))->second) vcs.push_back(vc);
  }
  return vcs;
}

SimTime Explainer::next_change(SimTime after) const {
  SimTime next = never;
  for (const auto& [vc, steps] : room_) {
    if (const auto step = steps.upper_bound(after); step != steps.end())
      next = std::min(next, step->first);
  }
  return next;
}

Explanation Explainer::finish(const RunRecord& record) && {
  settle();
  std::ranges::stable_sort(waits_, {}, &Wait::from);
  return {record.run.label, row_, record.result.outcomes[row_], std::move(waits_), profiler_gpus_};
}

}  // namespace schedmate::study
