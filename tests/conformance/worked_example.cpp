// SPDX-License-Identifier: Apache-2.0
/// aged_sjf: shortest job first in which nobody waits forever. Order: estimated run time + `weight`
/// x submission time, so that an hour of waiting counts as much as being `weight` hours shorter;
/// ties by order of entry. Strict head of line, no preemption.
#include <schedmate/scheduler.hpp>
#include <set>
#include <utility>

namespace schedmate::policy {
namespace {

struct AgedSjf {
  double weight;
  std::set<std::pair<double, JobId>> queue;

  void operator()(const View& view, Plan& plan) {
    for (const JobId id : view.arrived) {
      const JobInfo& job = view.job(id);
      const auto submitted_s = static_cast<double>(seconds_of(job.submit));
      queue.emplace(job.estimate.count() + weight * submitted_s, id);
    }
    for (const JobId id : view.withdrawn)
      std::erase_if(queue, [id](const auto& waiting) { return waiting.second == id; });
    while (!queue.empty() &&
           plan.start(queue.begin()->second, view.job(queue.begin()->second).gpus)) {
      queue.erase(queue.begin());
    }
  }
};

}  // namespace

Result<Scheduler> make_aged_sjf(const PolicyInput&, PolicyOptions& settings) {
  const auto weight = settings.take_number("weight", 0.5);
  if (!weight) return tl::unexpected(weight.error());
  return Scheduler{.decide = AgedSjf{*weight, {}}, .estimator = "last_k", .profiler = {}};
}

}  // namespace schedmate::policy
