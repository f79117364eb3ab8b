// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <thread>

#include "base/check.hpp"
#include "sim/engine.hpp"

namespace schedmate {
namespace {

struct Partitioned {
  std::vector<std::vector<EngineJob>> entering;  // by VC of the cluster
  std::vector<std::vector<EngineJob>> prior;
};

/// Everything one call of simulate() works on.
class Simulation {
 public:
  Simulation(const Trace& trace, const ClusterSpec& cluster, const Scheduler& scheduler,
             const SimOptions& options)
      : trace_(trace), partitions_(cluster.partitions), scheduler_(scheduler), options_(options) {
    result_.outcomes.resize(trace.jobs.size());
    for (const PartitionSpec& partition : partitions_) {
      result_.total_gpus += partition.nodes * partition.gpus_per_node;
    }
    if (trace.jobs.empty()) return;
    first_submit_ = trace.jobs.front().submit;
    last_submit_ = trace.jobs.back().submit;
  }

  Result<SimResult> run() {
    if (auto ok = place_vcs(); !ok) return tl::unexpected(ok.error());
    entries_.resize(trace_.jobs.size());
    for (std::size_t row = 0; row < entries_.size(); ++row) {
      entries_[row] = {static_cast<std::uint32_t>(row), trace_.jobs[row].submit,
                       trace_.jobs[row].duration};
    }
    if (scheduler_.profiler) profile(*scheduler_.profiler);
    run_vcs();
    return std::move(result_);
  }

 private:
  Result<void> place_vcs();
  void profile(const ProfilerStage& stage);
  void take_profile(const ProfilerStage& stage, const std::vector<JobOutcome>& profiled);
  [[nodiscard]] Partitioned partition() const;
  void run_vcs();
  void run_vc(std::size_t vc, Partitioned& jobs);
  void note_end();

  const Trace& trace_;
  std::vector<PartitionSpec> partitions_;
  const Scheduler& scheduler_;
  const SimOptions& options_;
  SimTime first_submit_, last_submit_;
  SimResult result_;
  std::vector<std::optional<std::size_t>> vc_of_;  // Trace::vcs -> index into partitions_
  std::vector<EngineJob> entries_;                 // by row
  std::vector<std::optional<TimelineRecorder>> recorders_;
  std::vector<std::uint64_t> calls_;
  std::atomic<std::size_t> ended_ = 0;
};

Result<void> Simulation::place_vcs() {
  if (trace_.vcs.empty() && !trace_.jobs.empty()) {
    return fail(ErrorCode::invalid, "the trace has jobs but names no VC");
  }
  bool any = trace_.vcs.empty();
  for (const std::string& name : trace_.vcs) {
    const auto found = std::ranges::find(partitions_, name, &PartitionSpec::name);
    vc_of_.emplace_back();
    if (found != partitions_.end())
      vc_of_.back() = static_cast<std::size_t>(found - partitions_.begin());
    any = any || vc_of_.back().has_value();
  }
  // A cluster of one partition takes every job: most accounting files name queues, not GPU pools.
  if (partitions_.size() == 1 && !any) {
    std::ranges::fill(vc_of_, std::optional<std::size_t>(0));
    any = true;
  }
  if (any) return {};
  return fail(
      ErrorCode::invalid,
      fmt::format("no VC of the trace (first: '{}') is in the cluster (first: '{}'): give a "
                  "--cluster file that names the trace's VCs",
                  trace_.vcs.front(), partitions_.empty() ? "" : partitions_.front().name));
}

void Simulation::profile(const ProfilerStage& stage) {
  for (const std::string& lender : stage.lenders) {
    const auto found = std::ranges::find(partitions_, lender, &PartitionSpec::name);
    if (found != partitions_.end()) --found->nodes;
  }
  SimOptions options = options_;
  options.estimator = [](const Job&, std::size_t, const History&) { return FractionalSeconds(0); };
  EngineInput input{.trace = trace_,
                    .partition = stage.nodes,
                    .options = options,
                    .policy = stage.decide,
                    .jobs = {},
                    .prior = {},
                    .echo = {},
                    .first_submit = first_submit_,
                    .last_submit = last_submit_,
                    .open_until = first_submit_,
                    .on_end = {}};
  for (const EngineJob& entry : entries_) {
    const Job& job = trace_.jobs[entry.row];
    if (!vc_of_[job.vc]) continue;
    const PartitionSpec& vc = partitions_[*vc_of_[job.vc]];
    if (job.gpus > vc.nodes * vc.gpus_per_node) continue;  // what can never run is not profiled
    input.open_until = entry.enters;
    if (job.gpus > stage.max_gpus) continue;
    input.jobs.push_back({entry.row, entry.enters, std::min(entry.work, stage.time)});
  }
  std::vector<JobOutcome> profiled(trace_.jobs.size());
  Engine engine(std::move(input), profiled);
  engine.run();
  result_.profiler_scaling = engine.node_changes();
  result_.decision_points += engine.calls();
  recorders_.emplace_back(std::move(engine.timeline()));
  take_profile(stage, profiled);
}

void Simulation::take_profile(const ProfilerStage& stage, const std::vector<JobOutcome>& profiled) {
  for (EngineJob& entry : entries_) {
    const JobOutcome& profile = profiled[entry.row];
    if (profile.status != JobStatus::finished) continue;
    JobOutcome& outcome = result_.outcomes[entry.row];
    if (trace_.jobs[entry.row].duration <= stage.time) {
      outcome = profile;
      outcome.finished_in_profiler = true;
      note_end();
    } else {
      outcome.queue = options_.defects.double_counted_queue || !options_.defects.entry_at_submission
                          ? profile.queue
                          : Seconds(0);
      if (!options_.defects.entry_at_submission) entry.enters = profile.end;
    }
    outcome.profiled = true;
    outcome.profiler_queue = profile.queue;
  }
}

Partitioned Simulation::partition() const {
  Partitioned parts;
  parts.entering.resize(partitions_.size());
  parts.prior.resize(partitions_.size());
  for (const EngineJob& entry : entries_) {
    const auto vc = vc_of_[trace_.jobs[entry.row].vc];
    if (!vc) continue;
    const JobOutcome& outcome = result_.outcomes[entry.row];
    if (outcome.finished_in_profiler) {
      parts.prior[*vc].push_back({entry.row, outcome.end, entry.work});
    } else {
      parts.entering[*vc].push_back(entry);
    }
  }
  for (auto* lists : {&parts.entering, &parts.prior}) {
    for (auto& list : *lists) std::ranges::stable_sort(list, {}, &EngineJob::enters);
  }
  return parts;
}

void Simulation::run_vcs() {
  for (std::size_t row = 0; row < entries_.size(); ++row) {
    if (!vc_of_[trace_.jobs[row].vc]) result_.outcomes[row].status = JobStatus::infeasible;
  }
  Partitioned jobs = partition();
  entries_ = {};
  const std::size_t first = recorders_.size();
  recorders_.resize(first + partitions_.size());
  calls_.resize(partitions_.size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t vc = next++; vc < partitions_.size(); vc = next++) run_vc(vc, jobs);
  };
  {
    std::vector<std::jthread> helpers;
    for (int i = 1; i < options_.threads; ++i) helpers.emplace_back(work);
    work();
  }
  std::vector<TimelineRecorder> recorders;
  for (auto& recorder : recorders_) recorders.push_back(std::move(*recorder));
  result_.timeline = TimelineRecorder::merge(recorders);
  for (const std::uint64_t calls : calls_) result_.decision_points += calls;
}

void Simulation::run_vc(std::size_t vc, Partitioned& jobs) {
  const PartitionSpec& partition = partitions_[vc];
  const bool echoes = scheduler_.profiler && scheduler_.profiler->echo_vc == partition.name;
  EngineInput input{.trace = trace_,
                    .partition = partition,
                    .options = options_,
                    .policy = scheduler_.decide,
                    .jobs = std::move(jobs.entering[vc]),
                    .prior = std::move(jobs.prior[vc]),
                    .echo = {},
                    .first_submit = first_submit_,
                    .last_submit = last_submit_,
                    .open_until = first_submit_,
                    .on_end = [this] { note_end(); }};
  if (scheduler_.counts_down && options_.defects.late_end) input.lag = Seconds(1);
  if (echoes) input.echo = result_.profiler_scaling;
  Engine engine(std::move(input), result_.outcomes);
  engine.run();
  calls_[vc] = engine.calls();
  recorders_[recorders_.size() - partitions_.size() + vc] = std::move(engine.timeline());
}

void Simulation::note_end() {
  const std::size_t ended = ++ended_;
  if (options_.progress && ended % 4096 == 0) {
    options_.progress(static_cast<double>(ended) / static_cast<double>(trace_.jobs.size()));
  }
}

}  // namespace

Result<SimResult> simulate(const Trace& trace, const ClusterSpec& cluster,
                           const Scheduler& scheduler, const SimOptions& options) {
  SCHEDMATE_CHECK(scheduler.decide, "the scheduler decides");
  return Simulation(trace, cluster, scheduler, options).run();
}

}  // namespace schedmate
