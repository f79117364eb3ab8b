// SPDX-License-Identifier: Apache-2.0
/// Runs that do not reach the end of their job: infrastructure failures, a pair whose memory does
/// not fit, restarts without effect. Each attempt is a job of its own for the policy; all count for
/// the same row.
#include <algorithm>
#include <bit>
#include <cmath>

#include "base/random.hpp"
#include "sim/engine.hpp"

namespace schedmate::sim {
namespace {

/// Draws of one attempt of one row, the same whatever the policy does.
Random draws(const SimOptions& options, const EngineJob& entry) {
  return Random(mix(options.seed ^ 0xfa11) ^
                mix((std::uint64_t{entry.row} << 20U) ^ entry.attempt));
}

enum class Cause : std::uint8_t { infrastructure, framework, script };

/// What ends the attempt; a doomed one fails for the reason of the one before.
Cause cause_of(const SimOptions& options, EngineJob failed) {
  const FailureCosts& costs = options.costs.failures;
  if (failed.kind == EngineJob::Kind::doomed) --failed.attempt;
  const double drawn = Random(draws(options, failed).next() ^ 0xca5e).uniform();
  if (drawn < costs.framework_share) return Cause::framework;
  return drawn < costs.framework_share + costs.script_share ? Cause::script : Cause::infrastructure;
}

/// When the job is back, if not by its owner, and whether it then fails once more at once.
struct Recovery {
  std::optional<SimTime> back;
  bool fails_again = false;
};

/// What the Failure Handler makes of a failed attempt, as often right as FailureCosts says.
Recovery recover(const EngineInput& input, const EngineJob& failed, const Executor& execute) {
  const FailureCosts& costs = input.options.costs.failures;
  const bool again = failed.kind == EngineJob::Kind::doomed;
  Random random = draws(input.options, failed);
  random.next();  // the one that the time of the failure took
  RecoveryOrder order{input.trace.jobs[failed.row].id};
  const Cause cause = cause_of(input.options, failed);
  if (cause == Cause::infrastructure) {
    const bool seen = random.uniform() >= costs.missed_share && input.handler;
    if (seen) order.recommendation = Recommendation::restart_elsewhere;
    const auto [back] = execute(order);
    return {back, !back && random.uniform() < costs.bad_node_share && !again};
  }
  const bool mistaken =
      input.handler && cause == Cause::script && !again && random.uniform() < costs.false_share;
  order.recommendation =
      mistaken ? Recommendation::restart_elsewhere : Recommendation::do_not_restart;
  return {execute(order).back, mistaken};
}

}  // namespace

/// Cuts the run where its next failure will come.
void Engine::plan_failure(const EngineJob& entry, Run& run) const {
  const FailureCosts& costs = input_.options.costs.failures;
  run.entry = entry;
  if (!(costs.gpu_hours > 0) || entry.kind == EngineJob::Kind::futile) return;
  const Job& job = input_.trace.jobs[entry.row];
  Random random = draws(input_.options, entry);
  const double mean_s = costs.gpu_hours * 3600 / job.gpus;
  const double after_s = entry.kind == EngineJob::Kind::doomed
                             ? 0
                             : std::floor(-mean_s * std::log(1 - random.uniform()));
  if (after_s >= run.work) return;
  run.cut = Cut::failure;
  run.work = run.whole = after_s + static_cast<double>(costs.detection.count());
}

/// Two jobs whose memory does not fit: the newcomer dies when it has loaded its data.
void Engine::plan_memory_crash(JobId id) {
  constexpr double loading_s = 60;
  for (const Slice& slice : cluster_.allocation(id)) {
    for (std::uint64_t rest = slice.gpus; rest != 0; rest &= rest - 1) {
      double used_mib = 0;
      for (const JobId other : cluster_.residents(slice.node, std::countr_zero(rest))) {
        const Profile* profile = true_profile(other);
        used_mib += profile == nullptr ? 0 : profile->memory_mib;
      }
      if (used_mib <= cluster_.gpu_memory_mib()) continue;
      Run& run = at(id);
      if (run.work <= loading_s) return;
      run.cut = Cut::memory;
      run.work = run.whole = loading_s;
      return;
    }
  }
}

/// The run has come to its cut: the job comes back later, with what it has kept.
void Engine::interrupt(JobId id) {
  const Run& run = at(id);
  const Job& job = input_.trace.jobs[run.entry.row];
  const FailureCosts& costs = input_.options.costs.failures;
  JobOutcome& result = outcome(id);
  EngineJob next = run.entry;
  ++next.attempt;
  next.kind = EngineJob::Kind::usual;
  std::optional<SimTime> back;
  if (run.cut == Cut::memory) {
    result.lost_gpu_s += run.whole * job.gpus;
    ++result.evictions;
    next.alone = true;
    if (input_.handler) back = carry_out({job.id, Recommendation::restart_same}).back;
  } else {
    ++result.failures;
    const auto detection_s = static_cast<double>(costs.detection.count());
    const auto overhead_s = static_cast<double>(info(id).overhead.count());
    const double done_s = run.entry.done_s + run.whole - detection_s - overhead_s;
    const auto step_s = static_cast<double>(std::max<std::int64_t>(1, costs.checkpoint.count()));
    next.done_s = std::floor(done_s / step_s) * step_s;
    result.lost_gpu_s += (done_s - next.done_s) * job.gpus;
    result.overhead_gpu_s += detection_s * job.gpus;
    const Recovery recovery =
        recover(input_, run.entry, [&](const RecoveryOrder& order) { return carry_out(order); });
    if (recovery.fails_again) next.kind = EngineJob::Kind::doomed;
    back = recovery.back;
  }
  next.enters = back.value_or(now_ + costs.manual_restart);
  const auto done = Seconds(static_cast<std::int64_t>(next.done_s));
  next.work = job.duration - done;
  result.down += next.enters - now_;
  admit(next);
}

RecoveryOutcome Engine::carry_out(const RecoveryOrder& order) const {
  switch (order.recommendation) {
    case Recommendation::restart_same:
    case Recommendation::restart_elsewhere:
      return {now_ + input_.options.costs.failures.handled_restart};
    default:
      return {};
  }
}

/// The handler takes the user's own failure for one of the infrastructure.
void Engine::restart_futile(JobId id) {
  const EngineJob& entry = at(id).entry;
  const Job& job = input_.trace.jobs[entry.row];
  const FailureCosts& costs = input_.options.costs.failures;
  if (!input_.handler || !failed_itself(job.state) || !(costs.gpu_hours > 0)) return;
  EngineJob again{entry.row, now_, job.duration};
  again.attempt = entry.attempt + 1;
  again.kind = EngineJob::Kind::futile;
  if (draws(input_.options, again).uniform() >= costs.false_share) return;
  const auto [back] = carry_out({job.id, Recommendation::restart_elsewhere});
  if (!back) return;
  again.enters = *back;
  admit(again);
}

void Engine::count_futile(JobId id) {
  const JobOutcome& spent = outcome(id);
  JobOutcome& result = outcomes_[row_of(id)];
  result.held_gpu_s += spent.held_gpu_s;
  result.overhead_gpu_s += spent.overhead_gpu_s;
  result.lost_gpu_s += spent.lost_gpu_s + at(id).whole * info(id).gpus - spent.overhead_gpu_s;
  futile_.erase(id);
}

}  // namespace schedmate::sim
