// SPDX-License-Identifier: Apache-2.0
/// qssf: quasi-shortest service first (Helios, SC'21, section 4.2).
///
/// Order: estimated run time x GPUs, then GPUs, then order of entry. Strict head of line, no
/// preemption. Helios' own estimator mixes similar job names with LightGBM; here it is whatever
/// `estimate=` names.
/// Defects::unranked_arrivals: in the released code jobs that meet an empty queue are served by GPU
/// count in that second and by priority only from the next second on.
#include <algorithm>
#include <schedmate/scheduler.hpp>

#include "policy/head_of_line.hpp"

namespace schedmate::policy {
namespace {

double service(const JobInfo& job) { return job.estimate.count() * job.gpus; }
double unranked(const JobInfo&) { return 0; }

struct ReleasedQssf {
  HeadOfLine ranked{service, true};

  void operator()(const View& view, Plan& plan) {
    const bool all_new = std::ranges::all_of(
        view.arrived, [&](JobId id) { return view.job(id).entered == view.now; });
    // As released: there nobody withdraws.
    if (!ranked.empty() || !view.withdrawn.empty() || !view.reordered.empty() ||
        view.arrived.empty() || !all_new)
      return ranked(view, plan);
    HeadOfLine fresh(unranked, true);
    fresh(view, plan);
    if (fresh.empty()) return;
    for (const JobId id : view.arrived) {
      if (view.cluster.allocation(id).empty()) ranked.enter(view, id);
    }
    plan.wake_at(view.now + Seconds(1));
  }
};

}  // namespace

Result<Scheduler> make_qssf(const PolicyInput& input, PolicyOptions&) {
  Scheduler scheduler;
  scheduler.heeds_order = true;
  scheduler.estimator = "last_k";
  scheduler.expected_work = service;
  if (input.defects.unranked_arrivals) {
    scheduler.decide = ReleasedQssf{};
  } else {
    scheduler.decide = HeadOfLine(service, true);
  }
  return scheduler;
}

}  // namespace schedmate::policy
