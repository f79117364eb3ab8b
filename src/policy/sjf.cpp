// SPDX-License-Identifier: Apache-2.0
/// sjf: shortest job first.
///
/// Order: estimated run time, then order of entry. Strict head of line, no preemption. With the
/// default estimator `oracle` this is the released baseline, which reads true durations;
/// give estimate=last_k for one that could be built.
#include <schedmate/scheduler.hpp>

#include "policy/head_of_line.hpp"

namespace schedmate::policy {

Result<Scheduler> make_sjf(const PolicyInput&, PolicyOptions&) {
  Scheduler scheduler;
  scheduler.heeds_order = true;
  scheduler.expected_work = [](const JobInfo& job) { return job.estimate.count(); };
  scheduler.decide = HeadOfLine(scheduler.expected_work);
  return scheduler;
}

}  // namespace schedmate::policy
