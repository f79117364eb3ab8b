// SPDX-License-Identifier: Apache-2.0
#include "policy/slurm_backfill_priority.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace schedmate::policy {
namespace {

/// How much of the VC the job asks for.
double size_of(const Cluster& cluster, int gpus) {
  const int nodes = (gpus + cluster.gpus_per_node() - 1) / cluster.gpus_per_node();
  const double of_nodes = static_cast<double>(nodes) / cluster.node_count();
  return (of_nodes + static_cast<double>(gpus) / cluster.total_gpus()) / 2;
}

}  // namespace

namespace {
double shortness_of(const JobInfo& job) {
  constexpr double nobody_knows = 0.5;
  constexpr double minute_s = 60;
  constexpr double week_s = 7 * 86'400;
  if (job.advised <= 0) return nobody_knows;
  const double expected_s = std::clamp(job.expected.count(), minute_s, week_s);
  return 1 - std::log(expected_s / minute_s) / std::log(week_s / minute_s);
}
}  // namespace

std::uint32_t MultifactorQueue::priority(const View& view, JobId id, SimTime when) const {
  const JobInfo& job = view.job(id);
  const FractionalSeconds waited = std::max(when - job.submit, Seconds(0));
  const double age = std::min(waited / FractionalSeconds(weights_.max_age), 1.0);
  const double size = std::min(size_of(view.cluster, job.gpus), 1.0);
  const double sum =
      static_cast<double>(weights_.age) * age +
      static_cast<double>(weights_.job_size) * (weights_.favor_small ? 1 - size : size) +
      static_cast<double>(weights_.fairshare) * users_.at(job.user).fairshare +
      static_cast<double>(weights_.shortness) * shortness_of(job);
  constexpr double most = std::numeric_limits<std::uint32_t>::max();
  return static_cast<std::uint32_t>(std::clamp(sum, 1.0, most));
}

/// Usage grows by the GPUs in use and is forgotten at the same time: u' = gpus - u ln 2 /
/// half_life.
void MultifactorQueue::settle(User& user, SimTime when) const {
  const FractionalSeconds passed = when - user.known;
  user.known = when;
  if (weights_.half_life == Seconds(0)) {
    user.used_gpu_s += user.gpus * passed.count();
    return;
  }
  const FractionalSeconds half_life = weights_.half_life;
  const double kept = std::exp2(-(passed / half_life));
  const double most = user.gpus * half_life.count() / std::numbers::ln2;
  user.used_gpu_s = user.used_gpu_s * kept + most * (1 - kept);
}

void MultifactorQueue::use(const View& view, JobId id, int gpus) {
  User& user = users_.at(view.job(id).user);
  settle(user, view.now);
  user.gpus += gpus;
}

void MultifactorQueue::adopt(const View& view, JobId id) {
  const JobInfo& job = view.job(id);
  User& user = users_.try_emplace(job.user, User{.known = job.run_since}).first->second;
  use(view, id, 0);
  // By the same law as in settle(), for this run alone.
  User run{.known = job.run_since, .gpus = job.gpus};
  settle(run, view.now);
  user.used_gpu_s += run.used_gpu_s;
  user.gpus += job.gpus;
}

void MultifactorQueue::share_out(SimTime when) {
  double all_gpu_s = 0;
  for (auto& [index, user] : users_) {
    settle(user, when);
    all_gpu_s += user.used_gpu_s;
  }
  const auto users = static_cast<double>(users_.size());
  for (auto& [index, user] : users_) {
    user.fairshare = all_gpu_s > 0 ? std::exp2(-(user.used_gpu_s / all_gpu_s) * users) : 1;
  }
}

SimTime MultifactorQueue::next_calculation(SimTime now) const {
  const bool fixed = weights_.fairshare == 0 && (weights_.age == 0 || weights_.job_size == 0);
  return fixed ? never : round_up(now + Seconds(1), weights_.calc_period);
}

bool MultifactorQueue::calculate(const View& view) {
  if (view.now < next_ || next_ == never) return false;
  const SimTime when = round_up(view.now - weights_.calc_period + Seconds(1), weights_.calc_period);
  next_ = next_calculation(view.now);
  if (next_ == never) return false;
  share_out(when);
  std::vector<Entry> reordered(order_.begin(), order_.end());
  for (Entry& entry : reordered) entry.priority = priority(view, entry.job, when);
  std::ranges::sort(reordered);
  for (const Entry& entry : reordered) entries_.at(entry.job) = entry;
  order_ = std::set<Entry>(reordered.begin(), reordered.end());
  return true;
}

void MultifactorQueue::push(const View& view, JobId id) {
  const JobInfo& job = view.job(id);
  users_.try_emplace(job.user, User{.known = view.now});
  Entry& entry = entries_[id];
  entry = {priority(view, id, view.now), job.submit, id};
  order_.insert(entry);
}

void MultifactorQueue::remove(JobId id) {
  order_.erase(entries_.at(id));
  entries_.erase(id);
}

}  // namespace schedmate::policy
