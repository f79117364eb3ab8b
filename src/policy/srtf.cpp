// SPDX-License-Identifier: Apache-2.0
/// srtf: shortest remaining time first, preemptive, as in Lucid's baselines.
///
/// Order: estimated remaining run time (overheads of earlier preemptions included); on equality
/// waiting before running, then order of queueing or of start. All waiting and running jobs share
/// the VC's GPUs as one quota (quota_queue.hpp); what the quota covers but placement cannot fit
/// stays queued and may cause preemptions again a second later, as released. With the default
/// estimator `oracle` true durations are read, as in the released baseline.
///
/// The released code decides every second. Between events a running job may overtake a waiting one,
/// but when the last decision changed nothing every running job is covered by the quota, and moving
/// a covered job ahead of any other changes neither what is covered nor the order of the waiting:
/// so deciding again at the next event, or a second after a change, is the same.
#include <schedmate/scheduler.hpp>

#include "policy/quota_queue.hpp"

namespace schedmate::policy {
namespace {

struct Srtf {
  QuotaQueue queue;

  void operator()(const View& view, Plan& plan) {
    const double now = static_cast<double>(seconds_of(view.now));
    for (const JobId id : view.adopted)
      queue.run(id, view.job(id).gpus, view.job(id).remaining(view.now).count() + now);
    for (const auto gone : {view.ended, view.withdrawn})
      for (const JobId id : gone) queue.remove(id);
    for (const JobId id : view.arrived) {
      queue.wait(id, view.job(id).gpus, view.job(id).remaining(view.now).count());
    }
    const auto& choice =
        queue.choose(view.cluster.total_gpus() + view.cluster.draining_gpus(), {-now, true});
    bool changed = !choice.preempt.empty();
    for (const JobId id : choice.preempt) {
      plan.preempt(id);
      queue.remove(id);
      const JobInfo& job = view.job(id);
      queue.wait(id, job.gpus, (job.remaining(view.now) + view.preemption.of(job.gpus)).count());
    }
    for (const JobId id : choice.start) {
      const JobInfo& job = view.job(id);
      if (!plan.start(id, job.gpus)) continue;
      changed = true;
      const double remaining = queue.key(id);
      queue.remove(id);
      queue.run(id, job.gpus, remaining + now);  // its estimated end orders running jobs for good
    }
    if (changed) plan.wake_at(view.now + Seconds(1));
  }
};

}  // namespace

Result<Scheduler> make_srtf(const PolicyInput&, PolicyOptions&) {
  Scheduler scheduler;
  scheduler.decide = Srtf{};
  scheduler.counts_down = true;
  scheduler.expected_work = [](const JobInfo& job) { return job.estimate.count(); };
  return scheduler;
}

}  // namespace schedmate::policy
