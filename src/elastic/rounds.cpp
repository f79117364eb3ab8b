// SPDX-License-Identifier: Apache-2.0
#include "elastic/rounds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "base/check.hpp"
#include "base/random.hpp"

namespace schedmate::elastic {
namespace {

class Rounds {
 public:
  Rounds(const ElasticWorkload& workload, const ElasticCluster& cluster,
         const ElasticOptions& options)
      : cluster_(cluster), options_(options), configurations_(configurations_of(cluster)) {
    runs_.reserve(workload.jobs.size());
    if (options.placement) placer_.emplace(cluster, *options.placement);
    for (const ElasticJob& job : workload.jobs)
      runs_.emplace_back(job, workload.applications[job.application]).fit_by(options.fit);
  }

  Result<ElasticResult> run(const ElasticPolicy& policy) {
    while (next_ < runs_.size() || !active_.empty()) {
      if (active_.empty()) skip_to_next();
      if (auto done = advance(); !done) return tl::unexpected(done.error());
      now_s_ += options_.interval_s;
      std::erase_if(active_, [](const ElasticRun* run) { return run->completion_s().has_value(); });
      admit();
      present_.clear();
      std::ranges::copy_if(active_, std::back_inserter(present_),
                           [&](const ElasticRun* run) { return !run->away(now_s_); });
      if (!present_.empty()) decide(policy);
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

  Result<void> advance() {
    for (ElasticRun* const run : active_) {
      if (auto done = run->advance(now_s_, options_.interval_s); !done) return done;
      if (options_.failures.gpu_hours > 0) maybe_fail(*run);
    }
    return {};
  }

  void maybe_fail(ElasticRun& run) {
    if (!run.runs() || run.pinned() || run.completion_s()) return;
    double& next_s = failure_gpu_s_[static_cast<std::size_t>(&run - runs_.data())];
    if (run.attained_gpu_s() < next_s) return;
    run.crash(options_.failures.recovery);
    next_s = run.attained_gpu_s() + time_to_failure(run);
  }

  /// GPU seconds to the next failure of a job.
  [[nodiscard]] double time_to_failure(const ElasticRun& run) const {
    const auto index = static_cast<std::uint64_t>(&run - runs_.data());
    Random random(
        mix(mix(options_.failures.seed ^ index) ^ static_cast<std::uint64_t>(run.failures())));
    constexpr double hour_s = 3600;
    return -std::log(1 - random.uniform()) * options_.failures.gpu_hours * hour_s;
  }

  void admit() {
    for (; next_ < runs_.size() && runs_[next_].job().submit_s <= now_s_; ++next_) {
      if (options_.admit) options_.admit(runs_[next_], known_);
      runs_[next_].checkpoint_every(options_.failures.checkpoint_s);
      failure_gpu_s_.push_back(time_to_failure(runs_[next_]));
      active_.push_back(&runs_[next_]);
      known_.push_back(&runs_[next_]);
    }
  }

  void decide(const ElasticPolicy& policy) {
    ++result_.rounds;
    active_sum_ += static_cast<double>(present_.size());
    const ElasticPlan plan = policy({now_s_, cluster_, configurations_, present_});
    check(plan);
    for (std::size_t i = 0; i < present_.size(); ++i) {
      if (present_[i]->profile_slots().empty()) present_[i]->assign(plan.held[i]);
      for (const std::uint16_t type : plan.measured[i]) present_[i]->profile_on(type);
    }
    if (placer_) place(plan);
  }

  /// Jobs by their place in the workload; behind them GPUs that measure, one number for each job
  /// and type.
  void place(const ElasticPlan& plan) {
    std::vector<PlacedJob> jobs;
    std::vector<Assignment> measuring(cluster_.types.size());
    for (std::size_t type = 0; type < measuring.size(); ++type)
      measuring[type] = {static_cast<std::uint16_t>(type), {1}};
    for (std::size_t i = 0; i < present_.size(); ++i) {
      const auto number = static_cast<std::uint32_t>(present_[i] - runs_.data());
      jobs.push_back({number, &plan.held[i]});
      for (const std::uint16_t type : plan.measured[i]) {
        const auto types = static_cast<std::uint32_t>(cluster_.types.size());
        const auto own = static_cast<std::uint32_t>(runs_.size()) + number * types + type;
        jobs.push_back({own, &measuring[type]});
      }
    }
    for (const std::uint32_t job : placer_->place(jobs).moved)
      if (job < runs_.size()) runs_[job].move();
  }

  /// No type is handed out twice, and what is restarting or measured stays.
  void check(const ElasticPlan& plan) {
    SCHEDMATE_CHECK(plan.held.size() == present_.size() && plan.measured.size() == present_.size(),
                    "a plan has an entry for each job");
    used_.assign(cluster_.types.size(), 0);
    for (std::size_t i = 0; i < present_.size(); ++i) {
      const ElasticRun& run = *present_[i];
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
                             run.restarts(), run.failures(), run.spent(), run.matches()});
    }
    if (result.rounds > 0) result.mean_active = active_sum_ / static_cast<double>(result.rounds);
    return result;
  }

  const ElasticCluster& cluster_;
  const ElasticOptions& options_;
  std::vector<Configuration> configurations_;
  std::vector<ElasticRun> runs_;
  std::vector<ElasticRun*> active_, present_, known_;
  std::optional<NodePlacer> placer_;
  std::vector<double> failure_gpu_s_;  // held by a job when it fails next
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

}  // namespace schedmate::elastic
