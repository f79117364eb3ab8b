// SPDX-License-Identifier: Apache-2.0
#include "tick_model.hpp"

#include "tick_vc.hpp"

namespace oracle {
namespace {

/// The VCs as the policy finds them: each lender has given one node to the profiler.
std::vector<TickVc> lent(const TickInput& input) {
  std::vector<TickVc> vcs = input.vcs;
  for (TickVc& vc : vcs) {
    const auto& lenders = input.profiler.lenders;
    vc.nodes -= static_cast<int>(std::ranges::count(lenders, vc.name));
  }
  return vcs;
}

bool could_ever_fit(const TickJob& job, const TickVc& vc) {
  return (job.gpus + vc.gpus_per_node - 1) / vc.gpus_per_node <= vc.nodes;
}

/// When a job that is to run in its VC joins the queue there. A profile that took its whole time
/// ended in the profiler's last second of it.
Tick entry(const TickInput& input, const TickOutcome& out, std::size_t id) {
  return out.profiled ? out.end : input.jobs[id].submit;
}

/// The profiler's traces of a job that goes on to its VC.
void forget_run(TickOutcome& out) {
  out.start = out.end = -1;
  out.nodes.clear();
}

}  // namespace

TickResult run_tick_model(const TickInput& input, TickPolicy policy, Mode mode) {
  const bool lucid = policy == TickPolicy::lucid;
  const std::vector<TickVc> vcs = lucid ? lent(input) : input.vcs;
  TickResult result;
  result.outcomes.resize(input.jobs.size());
  for (std::size_t id = 0; id < input.jobs.size(); ++id) {
    if (could_ever_fit(input.jobs[id], vcs[input.jobs[id].vc])) continue;
    result.outcomes[id].status = TickStatus::infeasible;
  }
  if (lucid) result.scaling = run_profiler(input, result.outcomes);

  std::vector<Vc> live;
  for (const TickVc& spec : vcs) live.push_back({input, spec, result.outcomes});
  for (std::size_t id = 0; id < input.jobs.size(); ++id) {
    TickOutcome& out = result.outcomes[id];
    if (out.status == TickStatus::infeasible || out.finished_in_profiler) continue;
    const bool waits = mode == Mode::repaired;
    live[input.jobs[id].vc].entries.emplace_back(
        waits ? entry(input, out, id) : input.jobs[id].submit, id);
    forget_run(out);
  }
  for (Vc& vc : live) {
    std::ranges::sort(vc.entries);
    const bool echoes = mode == Mode::reference && vc.spec.name == input.profiler.echo_vc;
    if (lucid) {
      run_lucid(vc, mode, echoes ? result.scaling : Scaling());
    } else if (policy == TickPolicy::srtf || policy == TickPolicy::tiresias) {
      run_with_preemption(vc, policy, mode);
    } else {
      run_without_preemption(vc, policy, mode);
    }
  }
  return result;
}

}  // namespace oracle
