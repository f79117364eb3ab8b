// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>

#include "base/check.hpp"
#include "base/threads.hpp"
#include "sim/engine.hpp"

namespace schedmate {
namespace {

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
    if (const auto& stage = scheduler_.profiler) {
      for (const std::string& lender : stage->lenders) {
        const auto found = std::ranges::find(partitions_, lender, &PartitionSpec::name);
        if (found != partitions_.end()) --found->nodes;
      }
    }
    const std::vector<sim::EngineJob> to_profile = make_vcs();
    if (scheduler_.profiler) profile(*scheduler_.profiler, to_profile);
    run_vcs();
    collect();
    return std::move(result_);
  }

 private:
  Result<void> place_vcs();
  [[nodiscard]] bool is_profiled(const Job& job) const;
  [[nodiscard]] bool fits(const Job& job) const;
  std::vector<sim::EngineJob> make_vcs();
  [[nodiscard]] sim::EngineInput input_of(std::size_t vc, std::vector<sim::EngineJob> jobs);
  void profile(const ProfilerStage& stage, const std::vector<sim::EngineJob>& jobs);
  void run_in_turn(const std::vector<sim::EngineJob>& jobs);
  void note_arrival(std::size_t vc);
  void echo();
  void route(const sim::EngineJob& job);
  void route_late(const sim::EngineJob& job, SimTime now);
  [[nodiscard]] bool skips_profile(const sim::EngineJob& job, SimTime now);
  void enter_vc(const sim::EngineJob& job, SimTime now);
  [[nodiscard]] bool counts_profiler_queue() const {
    return options_.defects.double_counted_queue || !options_.defects.entry_at_submission;
  }
  [[nodiscard]] sim::Engine& vc_of(const sim::EngineJob& job) {
    return *vcs_[*vc_of_[trace_.jobs[job.row].vc]];
  }
  void take_profile(std::uint32_t row);
  void run_vcs();
  void collect();
  void note_end();
  [[nodiscard]] std::size_t progress_step() const;

  const Trace& trace_;
  std::vector<PartitionSpec> partitions_;
  const Scheduler& scheduler_;
  const SimOptions& options_;
  SimTime first_submit_, last_submit_;
  SimResult result_;
  std::vector<std::optional<std::size_t>> vc_of_;  // Trace::vcs -> index into partitions_
  std::vector<std::unique_ptr<sim::Engine>> vcs_;  // parallel to partitions_
  std::vector<std::size_t> to_come_;               // parallel: jobs in front of it
  std::unique_ptr<sim::Engine> profiler_;
  SimOptions profiler_options_;
  std::vector<JobOutcome> profiled_;  // by row, as the profiler saw them
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

/// What can never run is not profiled, nor what the profiler has no room for.
bool Simulation::is_profiled(const Job& job) const {
  if (!scheduler_.profiler || job.gpus > scheduler_.profiler->max_gpus) return false;
  const PartitionSpec& nodes = scheduler_.profiler->nodes;
  return job.gpus <= nodes.nodes * nodes.gpus_per_node && fits(job);
}

bool Simulation::fits(const Job& job) const {
  const auto vc = vc_of_[job.vc];
  return vc && job.gpus <= partitions_[*vc].nodes * partitions_[*vc].gpus_per_node;
}

/// Makes the VCs with the jobs that enter them as they are submitted; returns the others.
std::vector<sim::EngineJob> Simulation::make_vcs() {
  std::vector<sim::EngineJob> to_profile;
  std::vector<std::vector<sim::EngineJob>> entering(partitions_.size());
  const bool enters_twice = options_.defects.entry_at_submission;
  for (std::uint32_t row = 0; row < trace_.jobs.size(); ++row) {
    const Job& job = trace_.jobs[row];
    const sim::EngineJob entry{row, job.submit, job.duration};
    const auto vc = vc_of_[job.vc];
    if (!vc) {
      result_.outcomes[row].status = JobStatus::infeasible;
      continue;
    }
    if (is_profiled(job)) to_profile.push_back(entry);
    const bool ends_in_front = is_profiled(job) && job.duration <= scheduler_.profiler->time;
    if (!is_profiled(job) || (enters_twice && !ends_in_front)) entering[*vc].push_back(entry);
  }
  for (std::size_t vc = 0; vc < partitions_.size(); ++vc) {
    vcs_.push_back(
        std::make_unique<sim::Engine>(input_of(vc, std::move(entering[vc])), result_.outcomes));
  }
  return to_profile;
}

sim::EngineInput Simulation::input_of(std::size_t vc, std::vector<sim::EngineJob> jobs) {
  return {.trace = trace_,
          .partition = partitions_[vc],
          .options = options_,
          .policy = scheduler_.decide,
          .estimator = options_.estimator,
          .handler = scheduler_.handler,
          .jobs = std::move(jobs),
          .lag = Seconds(scheduler_.counts_down && options_.defects.late_end ? 1 : 0),
          .echo = {},
          .first_submit = first_submit_,
          .last_submit = last_submit_,
          .open_until = first_submit_,
          .on_end = [this](std::uint32_t) { note_end(); }};
}

void Simulation::profile(const ProfilerStage& stage, const std::vector<sim::EngineJob>& jobs) {
  profiled_.resize(trace_.jobs.size());
  to_come_.resize(vcs_.size());
  profiler_options_ = options_;
  profiler_options_.costs.failures.gpu_hours = 0;
  sim::EngineInput input{.trace = trace_,
                         .partition = stage.nodes,
                         .options = profiler_options_,
                         .policy = stage.decide,
                         .estimator = [](const EnteringJob&) { return Prediction(); },
                         .handler = false,
                         .jobs = {},
                         .lag = Seconds(0),
                         .echo = {},
                         .first_submit = first_submit_,
                         .last_submit = last_submit_,
                         .open_until = first_submit_,
                         .on_end = [this](std::uint32_t row) { take_profile(row); }};
  for (const Job& job : trace_.jobs) {
    if (fits(job)) input.open_until = job.submit;
  }
  profiler_ = std::make_unique<sim::Engine>(std::move(input), profiled_);
  if (stage.bypass != ProfilerStage::Bypass::none) return run_in_turn(jobs);
  for (const sim::EngineJob& job : jobs) route(job);
  profiler_->run();
}

/// With bypass it depends on the jobs that have ended in a VC by then who is profiled, so all
/// engines go through time together: at one instant submissions, then the profiler, then the VCs.
void Simulation::run_in_turn(const std::vector<sim::EngineJob>& jobs) {
  std::vector<sim::Engine*> engines{profiler_.get()};
  for (const auto& vc : vcs_) engines.push_back(vc.get());
  for (const sim::EngineJob& job : jobs) ++to_come_[*vc_of_[trace_.jobs[job.row].vc]];
  profiler_->keep_open(!jobs.empty());
  for (std::size_t vc = 0; vc < vcs_.size(); ++vc) vcs_[vc]->keep_open(to_come_[vc] > 0);
  const Seconds advice = options_.costs.advice;
  for (std::size_t next = 0, late = advice > Seconds(0) ? 0 : jobs.size();;) {
    SimTime instant = next < jobs.size() ? jobs[next].enters : never;
    if (late < next) instant = std::min(instant, jobs[late].enters + advice);
    for (sim::Engine* engine : engines) instant = std::min(instant, engine->next_instant());
    if (instant == never) break;
    // Who is asked whether GPUs are free knows all that has ended, whichever job is asked about.
    if (scheduler_.profiler->bypass == ProfilerStage::Bypass::free)
      for (sim::Engine* engine : engines)
        if (engine->next_instant() <= instant) engine->settle(instant);
    for (; next < jobs.size() && jobs[next].enters <= instant; ++next) route(jobs[next]);
    for (; late < next && jobs[late].enters + advice <= instant; ++late)
      route_late(jobs[late], instant);
    if (next == jobs.size()) profiler_->keep_open(false);
    // Jobs without duration start and end there within the instant.
    while (profiler_->next_instant() <= instant) profiler_->step(instant);
    echo();
    for (const auto& vc : vcs_)
      if (vc->next_instant() <= instant) vc->step(instant);
  }
}

/// One of the jobs to be profiled has entered its VC, or never will.
void Simulation::note_arrival(std::size_t vc) {
  if (to_come_[vc] == 0) return;
  --to_come_[vc];
  if (to_come_[vc] == 0) vcs_[vc]->keep_open(false);
}

void Simulation::echo() {
  for (std::size_t vc = 0; vc < vcs_.size(); ++vc)
    if (scheduler_.profiler->echo_vc == partitions_[vc].name)
      vcs_[vc]->set_echo(profiler_->node_changes());
}

bool Simulation::skips_profile(const sim::EngineJob& job, SimTime now) {
  const ProfilerStage& stage = *scheduler_.profiler;
  if (stage.bypass == ProfilerStage::Bypass::none) return false;
  const Prediction prediction = vc_of(job).predict(job.row, now);
  const bool ends_here = stage.bypass == ProfilerStage::Bypass::outlasting &&
                         prediction.run_time <= FractionalSeconds(stage.time);
  const int gpus = trace_.jobs[job.row].gpus;
  const bool would_wait = stage.bypass == ProfilerStage::Bypass::free && profiler_->fits(gpus) &&
                          !vc_of(job).fits(gpus);
  return prediction.use && !ends_here && !would_wait;
}

void Simulation::enter_vc(const sim::EngineJob& job, SimTime now) {
  sim::EngineJob entering = job;
  entering.enters = now;
  // Under entry_at_submission those that outlast the profiler stand in their VC already.
  const bool stands_there =
      options_.defects.entry_at_submission && job.work > scheduler_.profiler->time;
  if (!stands_there) vc_of(job).admit(entering);
  note_arrival(*vc_of_[trace_.jobs[job.row].vc]);
}

void Simulation::route(const sim::EngineJob& job) {
  if (skips_profile(job, job.enters)) return enter_vc(job, job.enters);
  sim::EngineJob measured = job;
  measured.work = std::min(job.work, scheduler_.profiler->time);
  profiler_->admit(measured);
}

/// Advice that comes while its job waits to be profiled.
void Simulation::route_late(const sim::EngineJob& job, SimTime now) {
  const auto waiting = profiler_->waiting(job.row);
  if (!waiting || !skips_profile(job, now)) return;
  profiler_->withdraw(*waiting, now);
  JobOutcome& outcome = result_.outcomes[job.row];
  outcome.profiler_queue = profiled_[job.row].queue;
  if (counts_profiler_queue()) outcome.queue += outcome.profiler_queue;
  enter_vc(job, now);
}

void Simulation::take_profile(std::uint32_t row) {
  const Job& job = trace_.jobs[row];
  const JobOutcome& profile = profiled_[row];
  JobOutcome& outcome = result_.outcomes[row];
  sim::Engine& vc = *vcs_[*vc_of_[job.vc]];
  if (job.duration <= scheduler_.profiler->time) {
    outcome = profile;
    outcome.finished_in_profiler = true;
    vc.learn({.row = row, .enters = profile.end, .work = job.duration});
    note_end();
  } else {
    if (counts_profiler_queue()) outcome.queue += profile.queue;
    outcome.held_gpu_s += profile.held_gpu_s;
    outcome.overhead_gpu_s += profile.held_gpu_s;
    if (!options_.defects.entry_at_submission)
      vc.admit({.row = row, .enters = profile.end, .work = job.duration, .measured = true});
  }
  outcome.profiled = true;
  outcome.profiler_queue = profile.queue;
  note_arrival(*vc_of_[job.vc]);
}

void Simulation::run_vcs() {
  if (profiler_) {
    result_.profiler_scaling = profiler_->node_changes();
    echo();
  }
  std::atomic<std::size_t> next = 0;
  run_on_threads(options_.threads, [&](std::int64_t /*number*/) {
    for (std::size_t vc = next++; vc < vcs_.size(); vc = next++) {
      vcs_[vc]->keep_open(false);
      vcs_[vc]->run();
    }
  });
}

void Simulation::collect() {
  std::vector<sim::TimelineRecorder> recorders;
  const auto take = [&](sim::Engine& engine) {
    result_.decision_points += engine.calls();
    recorders.push_back(std::move(engine.timeline()));
  };
  if (profiler_) take(*profiler_);
  for (const auto& vc : vcs_) take(*vc);
  result_.timeline = sim::TimelineRecorder::merge(recorders);
}

/// For at most two hundred reports of a small trace, and one for 4096 jobs of a large one.
std::size_t Simulation::progress_step() const {
  return std::clamp<std::size_t>(trace_.jobs.size() / 100, 1, 4096);
}

void Simulation::note_end() {
  const std::size_t ended = ++ended_;
  if (options_.progress && ended % progress_step() == 0) {
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
