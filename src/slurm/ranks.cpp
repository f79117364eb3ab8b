// SPDX-License-Identifier: Apache-2.0
#include "slurm/ranks.hpp"

#include <algorithm>
#include <cmath>

#include "slurm/site_policy.hpp"

namespace schedmate::slurm {
namespace {

/// More than any priority.
constexpr double of_a_tier = 1e10;

double middle(std::vector<double> values) {
  const auto at = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::ranges::nth_element(values, at);
  return *at;
}

/// Age counts from then on.
SimTime since_of(const QueuedJob& job) {
  return std::max(job.submit, job.eligible.value_or(job.submit));
}

}  // namespace

Ranks::Ranks(const ClusterQueue& queue) : now_(queue.now) {
  const PrioritySettings settings = priority_settings(queue);
  age_ = static_cast<double>(settings.weight_age);
  size_ = static_cast<double>(settings.weight_job_size);
  small_first_ = settings.favor_small;
  max_age_ = settings.max_age;
  half_life_ = settings.half_life;
  by_submission_ = settings.by_submission;
  for (const ClusterNode& node : queue.nodes) gpus_ += static_cast<double>(node.gpus);
  for (const Partition& partition : queue.partitions) tiers_[partition.name] = partition.tier;
  std::map<std::string_view, std::vector<double>> waiting, running;
  for (const QueuedJob& job : queue.jobs)
    if (job.priority > 0 && job.gpus > 0)
      (job.waits() ? waiting : running)[job.user].push_back(
          static_cast<double>(job.priority) - age_weight(job) - size_weight(job.gpus));
  waiting.merge(running);  // of those that run it is from when they started
  std::vector<double> users;
  for (const auto& [user, values] : waiting)
    users.push_back(of_user_[std::string(user)] = middle(values));
  if (!users.empty()) of_others_ = middle(users);
}

double Ranks::age_weight(const QueuedJob& job) const {
  const SimTime until = job.runs() ? *job.start : now_;
  const FractionalSeconds waited = std::max(until - since_of(job), Seconds(0));
  return age_ * std::min(waited / FractionalSeconds(max_age_), 1.0);
}

double Ranks::size_weight(std::int64_t gpus) const {
  const double share = std::min(static_cast<double>(gpus) / std::max(gpus_, 1.0), 1.0);
  return size_ * (small_first_ ? 1 - share : share);
}

std::int64_t Ranks::tier_of(const std::vector<std::string>& partitions) const {
  std::int64_t tier = 0;
  for (const std::string& name : partitions)
    if (const auto found = tiers_.find(name); found != tiers_.end())
      tier = std::max(tier, found->second);
  return tier;
}

std::optional<Rank> Ranks::of(const QueuedJob& job) const {
  if (job.priority <= 0) return std::nullopt;
  const double tier = of_a_tier * static_cast<double>(tier_of(job.partitions));
  return Rank{tier + static_cast<double>(job.priority), now_, since_of(job)};
}

std::optional<Rank> Ranks::of(const Submitted& job) const {
  if (!of_others_) return std::nullopt;
  const auto known = of_user_.find(job.user);
  const double own = known != of_user_.end() ? known->second : *of_others_;
  const double priority = by_submission_ ? 1 : std::max(1.0, own + size_weight(job.gpus));
  const double tier = of_a_tier * static_cast<double>(tier_of({job.partition}));
  return Rank{tier + priority, now_, now_};
}

double Ranks::kept_since(SimTime then) const {
  if (half_life_ == Seconds(0)) return 1;
  return std::exp2(-(FractionalSeconds(now_ - then) / FractionalSeconds(half_life_)));
}

}  // namespace schedmate::slurm
