// SPDX-License-Identifier: Apache-2.0
#include "tests/conformance/properties.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <tuple>

namespace schedmate::conformance {
namespace {

/// Nodes of the job's VC, less those lent to the profiler.
int nodes_left(const Replay& replay, const PartitionSpec& vc) {
  if (!replay.scheduler.profiler) return vc.nodes;
  return vc.nodes -
         static_cast<int>(std::ranges::count(replay.scheduler.profiler->lenders, vc.name));
}

bool is_too_large(const Replay& replay, const Job& job) {
  const PartitionSpec& vc = replay.world.cluster.partitions[job.vc];
  return job.gpus > nodes_left(replay, vc) * vc.gpus_per_node;
}

std::string wrong_gang(const Job& job, const JobOutcome& outcome) {
  int held = 0;
  for (const Slice& slice : outcome.nodes) {
    held += std::popcount(slice.gpus);
    if (std::ranges::count(outcome.nodes, slice.node, &Slice::node) != 1) return "a node twice";
  }
  return held == job.gpus ? "" : fmt::format("{} of {} GPUs", held, job.gpus);
}

/// Slowest and fastest speed a pair of this trace may have, powers of it for more residents.
std::pair<double, double> speed_range(const World& world) {
  double slowest = 1;
  double fastest = 1;
  if (world.trace.packing == nullptr) return {slowest, fastest};
  for (const PairRate& rate : world.trace.packing->pairs) {
    slowest = std::min({slowest, rate.newcomer, rate.resident});
    fastest = std::max({fastest, rate.newcomer, rate.resident});
  }
  constexpr int neighbours = Cluster::max_sharing - 1;
  return {std::pow(slowest, neighbours), std::pow(fastest, neighbours)};
}

/// Of a job that was not restarted without effect.
double overhead_gpu_s(const Replay& replay, std::size_t row) {
  const Job& job = replay.world.trace.jobs[row];
  const JobOutcome& outcome = replay.result.outcomes[row];
  Seconds overhead = outcome.preemptions * replay.options.preemption.of(job.gpus) +
                     outcome.failures * replay.options.costs.failures.detection;
  if (outcome.profiled && !outcome.finished_in_profiler)
    overhead += replay.scheduler.profiler->time;
  return FractionalSeconds(overhead).count() * job.gpus;
}

/// Whether the handler may take the job's end for a failure of the infrastructure.
bool may_restart_futile(const Replay& replay, const Job& job) {
  const FailureCosts& failures = replay.options.costs.failures;
  return replay.scheduler.handler && failed_itself(job.state) && failures.gpu_hours > 0 &&
         failures.false_share > 0;
}

/// A futile restart begins after the end of its job: what it held is the whole run once more and
/// its preemptions, or there was none.
std::string wrong_restart(const Replay& replay, std::size_t row, double held_gpu_s) {
  const Job& job = replay.world.trace.jobs[row];
  const double overhead = replay.result.outcomes[row].overhead_gpu_s - overhead_gpu_s(replay, row);
  const auto preemption = FractionalSeconds(replay.options.preemption.of(job.gpus)).count();
  const bool none = held_gpu_s == 0 && overhead == 0;
  const auto whole = static_cast<double>(job.duration.count()) * job.gpus;
  const bool once_more = held_gpu_s == whole + overhead && overhead >= 0 &&
                         std::fmod(overhead, preemption * job.gpus) == 0;
  // Beside others it may have run slower, or been evicted and begun again.
  const double fastest = speed_range(replay.world).second;
  const bool shared = replay.scheduler.packs && held_gpu_s >= whole / fastest && overhead >= 0;
  if (none || once_more || shared) return {};
  return fmt::format("{} GPU seconds after its end, {} of overhead", held_gpu_s, overhead);
}

/// submission -> end = waits + runs + time between attempts; what its GPUs did = work + what was
/// lost + overhead: whole seconds, so exact at full speed.
std::string wrong_times(const Replay& replay, std::size_t row, const Exceptions& exceptions) {
  const Job& job = replay.world.trace.jobs[row];
  const JobOutcome& outcome = replay.result.outcomes[row];
  if (outcome.start < job.submit) return "it starts before its submission";
  if (outcome.queue < Seconds(0)) return "it waits for less than no time";
  if (exceptions.loose_queue && outcome.profiled) return {};
  const double run_s = outcome.held_gpu_s / job.gpus;
  const Seconds gone = outcome.end - job.submit - outcome.queue - outcome.down;
  const bool futile = may_restart_futile(replay, job);
  if (futile) {
    const double afterwards_gpu_s = outcome.held_gpu_s - FractionalSeconds(gone).count() * job.gpus;
    if (const auto wrong = wrong_restart(replay, row, afterwards_gpu_s); !wrong.empty())
      return wrong;
  } else if (FractionalSeconds(gone).count() != run_s) {
    return fmt::format("it runs {} s and holds its GPUs for {}", gone.count(), run_s);
  } else if (outcome.overhead_gpu_s != overhead_gpu_s(replay, row)) {
    return fmt::format("{} GPU seconds of overhead", outcome.overhead_gpu_s);
  }
  const double lag_s = outcome.finished_in_profiler ? 0 : FractionalSeconds(exceptions.lag).count();
  const double work_s = static_cast<double>(job.duration.count()) +
                        (outcome.lost_gpu_s + outcome.overhead_gpu_s) / job.gpus;
  // What an outcome says of sharing is of its last run.
  const int runs =
      1 + outcome.preemptions + outcome.evictions + outcome.failures + (futile ? 1 : 0);
  const bool never_shared = outcome.packed_at == SimTime() && outcome.unpacked_at == SimTime() &&
                            outcome.rate == 1 && outcome.exclusive &&
                            (runs == 1 || !replay.scheduler.packs);
  if (never_shared)
    return run_s == work_s + lag_s ? ""
                                   : fmt::format("it runs {} s for {} s of work", run_s, work_s);
  const auto [slowest, fastest] = speed_range(replay.world);
  const double shortest_s = work_s / fastest;
  const double longest_s = work_s / slowest + (2 + lag_s) * runs;
  if (run_s >= shortest_s && run_s <= longest_s) return {};
  return fmt::format("it runs {} s, between {} and {} are possible", run_s, shortest_s, longest_s);
}

}  // namespace

Exceptions exceptions_of(const Scheduler& scheduler, const Defects& defects) {
  Exceptions exceptions;
  if (scheduler.counts_down && defects.late_end) exceptions.lag = Seconds(1);
  exceptions.loose_queue = defects.double_counted_queue || defects.entry_at_submission;
  if (scheduler.profiler) exceptions.echo_vc = scheduler.profiler->echo_vc;
  return exceptions;
}

Complaints check_jobs(const Replay& replay, const Exceptions& exceptions) {
  Complaints complaints;
  const auto& jobs = replay.world.trace.jobs;
  for (std::size_t row = 0; row < jobs.size(); ++row) {
    const JobOutcome& outcome = replay.result.outcomes[row];
    const auto complain = [&](const std::string& what) {
      if (!what.empty()) complaints.push_back(fmt::format("{}: {}", jobs[row].id, what));
    };
    const bool echoes = replay.world.cluster.partitions[jobs[row].vc].name == exceptions.echo_vc;
    if (echoes && outcome.status != JobStatus::finished) continue;
    const bool too_large = is_too_large(replay, jobs[row]) && !echoes;
    if (too_large != (outcome.status == JobStatus::infeasible)) complain("infeasible or not?");
    if (too_large) continue;
    if (outcome.status != JobStatus::finished) {
      complain("it never ends");
      continue;
    }
    complain(wrong_gang(jobs[row], outcome));
    complain(wrong_times(replay, row, exceptions));
  }
  return complaints;
}

Complaints check_progress(const Replay& replay, const Progress& progress) {
  Complaints complaints;
  for (std::size_t row = 0; row < replay.world.trace.jobs.size(); ++row) {
    const Job& job = replay.world.trace.jobs[row];
    const JobOutcome& outcome = replay.result.outcomes[row];
    // Between two rounds nobody learns of an end.
    const bool each_second = replay.world.cluster.partitions[job.vc].round == Seconds(1);
    if (outcome.status != JobStatus::finished || !each_second) continue;
    const double work_s = static_cast<double>(job.duration.count()) +
                          (outcome.lost_gpu_s + outcome.overhead_gpu_s) / job.gpus;
    // A run that is slowed ends with the second in which its work does.
    const double most_s = work_s + progress.runs(row) * speed_range(replay.world).second;
    const double done_s = progress.done_s(row);
    constexpr double rounding_s = 1e-6;
    if (done_s < work_s - rounding_s || done_s > most_s + rounding_s)
      complaints.push_back(fmt::format("{}: {} s done in {} runs, {} s of work", job.id, done_s,
                                       progress.runs(row), work_s));
  }
  return complaints;
}

Complaints check_capacity(const Replay& replay, const Exceptions& exceptions, std::size_t most) {
  struct Change {
    std::int64_t at_s;
    int by;  // ends before starts at the same instant
    auto operator<=>(const Change&) const = default;
  };
  constexpr std::uint32_t profiler = no_index;
  std::map<std::tuple<std::uint32_t, std::uint32_t, int>, std::vector<Change>> changes;
  for (std::size_t row = 0; row < replay.result.outcomes.size(); ++row) {
    const JobOutcome& outcome = replay.result.outcomes[row];
    if (outcome.status != JobStatus::finished) continue;
    if (outcome.preemptions + outcome.evictions + outcome.failures > 0) continue;
    const PartitionSpec& home = replay.world.cluster.partitions[replay.world.trace.jobs[row].vc];
    if (home.name == exceptions.echo_vc) continue;
    const std::uint32_t vc =
        outcome.finished_in_profiler ? profiler : replay.world.trace.jobs[row].vc;
    for (const Slice& slice : outcome.nodes) {
      for (std::uint64_t rest = slice.gpus; rest != 0; rest &= rest - 1) {
        auto& of_gpu = changes[{vc, slice.node, std::countr_zero(rest)}];
        if (outcome.start == outcome.end) continue;
        of_gpu.push_back({seconds_of(outcome.start), 1});
        of_gpu.push_back({seconds_of(outcome.end), -1});
      }
    }
  }
  Complaints complaints;
  for (auto& [gpu, of_gpu] : changes) {
    std::ranges::sort(of_gpu);
    std::ptrdiff_t load = 0;
    for (const Change& change : of_gpu) {
      load += change.by;
      if (load > static_cast<std::ptrdiff_t>(most)) {
        complaints.push_back(fmt::format("{} jobs on GPU {}:{} at {}", load, std::get<1>(gpu),
                                         std::get<2>(gpu), change.at_s));
      }
    }
  }
  return complaints;
}

std::string text_of(std::span<const JobOutcome> outcomes) {
  std::string text;
  for (const JobOutcome& job : outcomes) {
    text += fmt::format("{} {} {} {} {} {} ", static_cast<int>(job.status), job.profiled,
                        job.finished_in_profiler, job.exclusive, job.started, job.preemptions);
    text += fmt::format("{} {} {} {} {:a} {:a} ", seconds_of(job.start), seconds_of(job.end),
                        job.queue.count(), job.profiler_queue.count(), job.rate, job.remaining);
    text += fmt::format("{} {} ", seconds_of(job.packed_at), seconds_of(job.unpacked_at));
    text += fmt::format("{} {} {} {:a} {:a} {:a}", job.evictions, job.failures, job.down.count(),
                        job.held_gpu_s, job.lost_gpu_s, job.overhead_gpu_s);
    for (const Slice& slice : job.nodes) text += fmt::format(" {}:{:x}", slice.node, slice.gpus);
    text += '\n';
  }
  return text;
}

std::string text_of(const SimResult& result) {
  std::string text = text_of(std::span(result.outcomes));
  for (const auto& [when, by] : result.profiler_scaling) {
    text += fmt::format("{} {:+}\n", seconds_of(when), by);
  }
  for (const TimelineBin& bin : result.timeline.bins) {
    text += fmt::format("{:a} {:a} {:a} {:a} {:a} {:a}\n", bin.busy_gpus, bin.stranded_gpus,
                        bin.queued_jobs, bin.queued_gpus, bin.running_jobs, bin.used_gpus);
  }
  return text + fmt::format("{} {} {}\n", result.timeline.peak_queue, result.decision_points,
                            result.total_gpus);
}

}  // namespace schedmate::conformance
