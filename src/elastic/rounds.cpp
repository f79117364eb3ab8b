// SPDX-License-Identifier: Apache-2.0
#include "elastic/rounds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/check.hpp"

namespace schedmate {
namespace {

class Rounds {
 public:
  Rounds(const ElasticWorkload& workload, const ElasticCluster& cluster,
         const ElasticOptions& options)
      : cluster_(cluster), options_(options), configurations_(configurations_of(cluster)) {
    runs_.reserve(workload.jobs.size());
    for (const ElasticJob& job : workload.jobs)
      runs_.emplace_back(job, workload.applications[job.application]);
  }

  Result<ElasticResult> run(const ElasticPolicy& policy) {
    while (next_ < runs_.size() || !active_.empty()) {
      if (active_.empty()) skip_to_next();
      for (ElasticRun* const run : active_)
        if (auto done = run->advance(now_s_, options_.interval_s); !done)
          return tl::unexpected(done.error());
      now_s_ += options_.interval_s;
      std::erase_if(active_, [](const ElasticRun* run) { return run->completion_s().has_value(); });
      admit();
      if (!active_.empty()) decide(policy);
      if (now_s_ > options_.longest_s) return give_up();
    }
    return summary();
  }

 private:
  /// Rounds in which nobody is there are not gone through.
  void skip_to_next() {
    const double rounds = std::ceil(runs_[next_].job().submit_s / options_.interval_s);
    now_s_ = std::max(now_s_, (rounds - 1) * options_.interval_s);
  }

  void admit() {
    for (; next_ < runs_.size() && runs_[next_].job().submit_s <= now_s_; ++next_) {
      if (options_.admit) options_.admit(runs_[next_], known_);
      active_.push_back(&runs_[next_]);
      known_.push_back(&runs_[next_]);
    }
  }

  void decide(const ElasticPolicy& policy) {
    ++result_.rounds;
    active_sum_ += static_cast<double>(active_.size());
    const ElasticPlan plan = policy({now_s_, cluster_, configurations_, active_});
    check(plan);
    for (std::size_t i = 0; i < active_.size(); ++i) {
      if (active_[i]->profile_slots().empty()) active_[i]->assign(plan.held[i]);
      for (const std::uint16_t type : plan.measured[i]) active_[i]->profile_on(type);
    }
  }

  /// No type is handed out twice, and what is restarting or measured stays.
  void check(const ElasticPlan& plan) {
    SCHEDMATE_CHECK(plan.held.size() == active_.size() && plan.measured.size() == active_.size(),
                    "a plan has an entry for each job");
    used_.assign(cluster_.types.size(), 0);
    for (std::size_t i = 0; i < active_.size(); ++i) {
      const ElasticRun& run = *active_[i];
      SCHEDMATE_CHECK(!run.pinned() || plan.held[i] == run.held(), "a restarting job stays");
      if (!plan.held[i].placement.empty())
        used_[plan.held[i].type] += replicas_of(plan.held[i].placement);
      for (const std::uint16_t type : plan.measured[i]) ++used_[type];
      for (const ProfileSlot& slot : run.profile_slots())
        SCHEDMATE_CHECK(!slot.runs || std::ranges::count(plan.measured[i], slot.type) == 1,
                        "a job that is measured stays");
    }
    for (std::size_t type = 0; type < used_.size(); ++type)
      SCHEDMATE_CHECK(used_[type] <= cluster_.types[type].gpus(), "GPUs are handed out once");
  }

  [[nodiscard]] Result<ElasticResult> give_up() const {
    return fail(ErrorCode::unsupported,
                fmt::format("after {:.0f} days {} jobs are not done: the cluster can't run them",
                            options_.longest_s / 86'400, active_.size()));
  }

  [[nodiscard]] ElasticResult summary() const {
    ElasticResult result = result_;
    for (const ElasticRun& run : runs_) {
      result.jobs.push_back({run.job().submit_s, *run.start_s(), *run.completion_s(),
                             run.restarts(), run.attained_gpu_s()});
    }
    if (result.rounds > 0) result.mean_active = active_sum_ / static_cast<double>(result.rounds);
    return result;
  }

  const ElasticCluster& cluster_;
  const ElasticOptions& options_;
  std::vector<Configuration> configurations_;
  std::vector<ElasticRun> runs_;
  std::vector<ElasticRun*> active_, known_;
  std::vector<std::int64_t> used_;
  std::size_t next_ = 0;
  double now_s_ = 0;
  double active_sum_ = 0;
  ElasticResult result_;
};

}  // namespace

Result<ElasticResult> run_rounds(const ElasticWorkload& workload, const ElasticCluster& cluster,
                                 const ElasticPolicy& policy, const ElasticOptions& options) {
  return Rounds(workload, cluster, options).run(policy);
}

}  // namespace schedmate
