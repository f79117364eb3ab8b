// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "tests/conformance/properties.hpp"

namespace schedmate::conformance {

Watch::Watch(const World& world, const Scheduler& scheduler, Exceptions exceptions)
    : world_(world), scheduler_(scheduler), exceptions_(std::move(exceptions)) {}

void Watch::complain(const SimOptions::Moment& moment, const std::string& what) {
  complaints_.push_back(fmt::format("{} at {}: {}", moment.vc, seconds_of(moment.now), what));
}

void Watch::look(const SimOptions::Moment& moment) {
  look_at_cluster(moment);
  moment.standing.for_each([&](JobId id, const JobStanding&) { look_at_job(moment, id); });
}

void Watch::look_at_job(const SimOptions::Moment& moment, JobId id) {
  const JobInfo& job = moment.jobs.at(id);
  const Placement& where = moment.cluster.allocation(id);
  const bool running = moment.standing.at(id).phase == JobPhase::running;
  if (job.running != running) complain(moment, fmt::format("{} is and is not running", job.id));
  if (where.empty() == running) complain(moment, fmt::format("{} runs without GPUs", job.id));
  if (moment.now < job.submit) complain(moment, fmt::format("{} is there too early", job.id));
  int held = 0;
  for (const Slice& slice : where) {
    held += std::popcount(slice.gpus);
    if (std::ranges::count(where, slice.node, &Slice::node) != 1) {
      complain(moment, fmt::format("{} holds node {} twice", job.id, slice.node));
    }
    if (!moment.cluster.active(slice.node)) complain(moment, "a removed node has a job");
  }
  if (running && held != job.gpus) {
    complain(moment, fmt::format("{} holds {} of {} GPUs", job.id, held, job.gpus));
  }
}

/// Counts the jobs on each GPU from their allocations and compares with what the cluster says.
void Watch::look_at_cluster(const SimOptions::Moment& moment) {
  const Cluster& cluster = moment.cluster;
  std::map<std::pair<std::uint32_t, int>, std::size_t> load;
  moment.standing.for_each([&](JobId id, const JobStanding&) {
    for (const Slice& slice : cluster.allocation(id))
      for (int gpu = 0; gpu < 64; ++gpu) load[{slice.node, gpu}] += slice.gpus >> gpu & 1U;
  });
  std::erase_if(load, [](const auto& entry) { return entry.second == 0; });
  int idle = 0;
  for (std::uint32_t node = 0; node < cluster.node_end(); ++node) {
    if (cluster.active(node)) idle += std::popcount(cluster.free_mask(node));
  }
  const auto busy = static_cast<int>(load.size());
  if (idle != cluster.free_gpus() || busy + idle != cluster.total_gpus()) {
    complain(moment, fmt::format("{} busy + {} free of {} GPUs", busy, idle, cluster.total_gpus()));
  }
  const auto vc = std::ranges::find(world_.cluster.partitions, moment.vc, &PartitionSpec::name);
  const PartitionSpec& spec =
      vc != world_.cluster.partitions.end() ? *vc : scheduler_.profiler->nodes;
  // The profiler may have one node more for a while.
  const int extra = vc == world_.cluster.partitions.end() ? 1 : 0;
  if (moment.vc != exceptions_.echo_vc &&
      cluster.total_gpus() > (spec.nodes + extra) * spec.gpus_per_node) {
    complain(moment, "the VC has more GPUs than the cluster file says");
  }
  for (const auto& [gpu, jobs] : load) {
    shared_ = shared_ || jobs > 1;
    if (jobs != cluster.residents(gpu.first, gpu.second).size()) {
      complain(moment, fmt::format("{} jobs on GPU {}:{}", jobs, gpu.first, gpu.second));
    }
  }
}

double Progress::rate_of(const SimOptions::Moment& moment, JobId id) const {
  const auto profile_of = [&](JobId job) {
    return world_.trace.jobs[moment.standing.at(job).row].profile;
  };
  double slowest = 0;
  for (const Slice& slice : moment.cluster.allocation(id)) {
    for (std::uint64_t rest = slice.gpus; rest != 0; rest &= rest - 1) {
      const int gpu = std::countr_zero(rest);
      double rate = 1;
      bool was_here = false;  // residents are in the order in which they came
      for (const JobId other : moment.cluster.residents(slice.node, gpu)) {
        if (other == id) was_here = true;
        if (other == id || profile_of(id) == no_index || profile_of(other) == no_index) continue;
        const PackingTables& tables = *world_.trace.packing;
        rate *= was_here ? tables.rate(profile_of(other), profile_of(id)).resident
                         : tables.rate(profile_of(id), profile_of(other)).newcomer;
      }
      slowest = slowest == 0 ? rate : std::min(slowest, rate);
    }
  }
  return slowest;
}

void Progress::look(const SimOptions::Moment& moment) {
  Seen& seen = seen_[moment.vc];
  const double gone_s = FractionalSeconds(moment.now - seen.at).count();
  for (const auto& [id, job] : seen.running) done_s_[job.row] += job.rate * gone_s;
  std::map<std::uint32_t, Running> running;
  moment.standing.for_each([&](JobId id, const JobStanding& standing) {
    if (standing.phase != JobPhase::running) return;
    if (!seen.running.contains(index_of(id))) ++runs_[standing.row];
    running[index_of(id)] = {standing.row, rate_of(moment, id)};
  });
  seen = {moment.now, std::move(running)};
}

}  // namespace schedmate::conformance
