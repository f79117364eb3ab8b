// SPDX-License-Identifier: Apache-2.0
#include "policy/slurm_backfill_priority.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace schedmate::policy {
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

/// How much of the VC the gang asks for.
double MultifactorQueue::Moment::size_of(int gang) const {
  const int of_gang = (gang + gpus_per_node - 1) / gpus_per_node;
  const double of_nodes = static_cast<double>(of_gang) / nodes;
  return std::min((of_nodes + static_cast<double>(gang) / gpus) / 2, 1.0);
}

void MultifactorQueue::weigh(Line& line, const Kind& kind, const Moment& moment) const {
  line.order = static_cast<double>(kind.order);
  if (kind.ranked != Ranked::here) {
    line.fairshare =
        static_cast<double>(weights_.fairshare) * fairshare_gained(users_.at(kind.user));
    return;
  }
  const double size = moment.size_of(kind.gpus);
  line.size = static_cast<double>(weights_.job_size) * (weights_.favor_small ? 1 - size : size);
  line.fairshare = static_cast<double>(weights_.fairshare) * fairshare(users_.at(kind.user));
  line.shortness = static_cast<double>(weights_.shortness) * kind.shortness;
}

/// In a line none has more than one before it.
std::uint64_t MultifactorQueue::priority(const Line& line, const Waiting& job, SimTime when) const {
  const auto weight = static_cast<double>(weights_.age);
  const FractionalSeconds max_age(weights_.max_age);
  if (line.ranked != Ranked::here) {
    constexpr double most = 1e18;
    const double age =
        line.ranked == Ranked::gains ? FractionalSeconds(when.time_since_epoch()) / max_age : 1;
    return static_cast<std::uint64_t>(
        std::clamp(weight * age - job.behind + line.fairshare + line.order, 1.0, most));
  }
  const FractionalSeconds waited = std::max(when - job.submit, Seconds(0));
  const double age = std::min(waited / max_age, 1.0);
  const double sum = weight * age + line.size + line.fairshare + line.shortness + line.order;
  constexpr double most = std::numeric_limits<std::uint32_t>::max();
  return static_cast<std::uint64_t>(std::clamp(sum, 1.0, most));
}

double MultifactorQueue::fairshare_gained(const User& user) const {
  return user.calculations < 2 ? 0 : fairshare(user) - user.base;
}

MultifactorQueue::User& MultifactorQueue::user_of(const JobInfo& job, SimTime known) {
  const auto [found, fresh] = users_.try_emplace(job.user, User{.known = known});
  User& user = found->second;
  if (!fresh || !job.rank || weights_.fairshare == 0) return user;
  user.known = job.rank->when;
  user.used_gpu_s = job.rank->used_gpu_s;
  settle(user, std::max(known, user.known));
  return user;
}

double MultifactorQueue::fairshare(const User& user) const {
  if (all_gpu_s_ <= 0) return 1;
  const double used = user.counted_gpu_s / all_gpu_s_;
  return std::exp2(weights_.in_account ? -(1 + used * (users_then_ - 1)) : -(used * users_then_));
}

/// Usage grows by the GPUs in use and is forgotten at the same time: u' = gpus - u ln 2 /
/// half_life.
void MultifactorQueue::settle(User& user, SimTime when) {
  const Seconds passed = when - user.known;
  user.known = when;
  if (weights_.half_life == Seconds(0)) {
    user.used_gpu_s += user.gpus * FractionalSeconds(passed).count();
    return;
  }
  const FractionalSeconds half_life = weights_.half_life;
  if (passed != passed_) {
    passed_ = passed;
    kept_ = std::exp2(-(FractionalSeconds(passed) / half_life));
  }
  const double most = user.gpus * half_life.count() / std::numbers::ln2;
  user.used_gpu_s = user.used_gpu_s * kept_ + most * (1 - kept_);
}

void MultifactorQueue::use(const View& view, JobId id, int gpus) {
  User& user = users_.at(view.job(id).user);
  settle(user, view.now);
  user.gpus += gpus;
}

void MultifactorQueue::adopt(const View& view, JobId id) {
  const JobInfo& job = view.job(id);
  User& user = user_of(job, job.run_since);
  use(view, id, 0);
  // By the same law as in settle(), for this run alone.
  User run{.known = job.run_since, .gpus = job.gpus};
  settle(run, view.now);
  user.used_gpu_s += run.used_gpu_s;
  user.gpus += job.gpus;
}

void MultifactorQueue::share_out(SimTime when) {
  all_gpu_s_ = 0;
  users_then_ = static_cast<double>(users_.size());
  for (auto& [index, user] : users_) {
    settle(user, when);
    user.counted_gpu_s = user.used_gpu_s;
    all_gpu_s_ += user.used_gpu_s;
  }
  for (auto& [index, user] : users_) {
    if (user.calculations == 1) user.base = fairshare(user);
    user.calculations = std::min(user.calculations + 1, 2);
  }
}

SimTime MultifactorQueue::next_calculation(SimTime now) const {
  const bool ages_alike = weights_.job_size == 0 && !gain_apart_;
  const bool fixed = weights_.fairshare == 0 && (weights_.age == 0 || ages_alike);
  return fixed ? never : round_up(now + Seconds(1), weights_.calc_period);
}

bool MultifactorQueue::calculate(const View& view) {
  if (view.now < next_ || next_ == never) return false;
  const SimTime when = round_up(view.now - weights_.calc_period + Seconds(1), weights_.calc_period);
  next_ = next_calculation(view.now);
  if (next_ == never) return false;
  share_out(when);
  calculated_ = moment(view, when);
  for (const Entry& entry : leaders_) {
    Place& place = places_.at(entry.job);
    if (!place.is_new) continue;
    place.is_new = false;
    Line& line = lines_[place.kind];
    line.ranked = place.kind.ranked;
    line.jobs.insert(std::ranges::upper_bound(line.jobs, place.job), place.job);
    if (line.ranked == Ranked::gains) next_in_full_ = std::min(next_in_full_, place.in_full);
  }
  leaders_.clear();
  move_on(when);
  lined_up_ = false;
  return true;
}

MultifactorQueue::Moment MultifactorQueue::moment(const View& view, SimTime when) {
  return {when, view.cluster.node_count(), view.cluster.total_gpus(), view.cluster.gpus_per_node()};
}

void MultifactorQueue::push(const View& view, JobId id) {
  (void)user_of(view.job(id), view.now);
  const Place& place = places_[id] = place_of(view, id);
  leaders_.insert(place.entry());
  ++gangs_[place.gang];
  if (gain_apart_ || (place.kind.ranked == Ranked::here && place.kind.order == 0)) return;
  gain_apart_ = true;
  next_ = std::min(next_, next_calculation(view.now));
}

MultifactorQueue::Place MultifactorQueue::place_of(const View& view, JobId id) const {
  const JobInfo& job = view.job(id);
  Place place{.kind = {}, .job = {.submit = job.submit, .job = id}, .gang = job.gpus};
  Line alone;
  if (job.rank) {
    take_rank(place, *job.rank, view.now);
    place.kind.user = job.user;
    alone.ranked = place.kind.ranked;
  } else {
    place.kind = {job.user, job.gpus, weights_.shortness > 0 ? shortness_of(job) : 0};
  }
  place.kind.order = job.order;
  weigh(alone, place.kind, moment(view, view.now));
  place.priority = priority(alone, place.job, view.now);
  return place;
}

/// Of what was ranked before, all that gain do so alike, and keep their order.
void MultifactorQueue::take_rank(Place& place, const Rank& rank, SimTime now) const {
  const auto weight = static_cast<double>(weights_.age);
  const FractionalSeconds max_age(weights_.max_age);
  const FractionalSeconds waited = std::max(rank.when - rank.since, Seconds(0));
  const double without_age = rank.priority - weight * std::min(waited / max_age, 1.0);
  const bool gains = now - rank.since < weights_.max_age;
  place.kind.ranked = gains ? Ranked::gains : Ranked::in_full;
  place.in_full = rank.since + weights_.max_age;
  place.job.behind = -without_age;
  if (gains)
    place.job.behind += weight * (FractionalSeconds(rank.since.time_since_epoch()) / max_age);
}

void MultifactorQueue::move_on(SimTime when) {
  if (when < next_in_full_) return;
  next_in_full_ = never;
  std::vector<JobId> moved;
  for (auto& [kind, line] : lines_) {
    if (kind.ranked != Ranked::gains) continue;
    std::erase_if(line.jobs, [&](const Waiting& job) {
      const SimTime in_full = places_.at(job.job).in_full;
      if (in_full <= when)
        moved.push_back(job.job);
      else
        next_in_full_ = std::min(next_in_full_, in_full);
      return in_full <= when;
    });
  }
  for (const JobId id : moved) {
    Place& place = places_.at(id);
    const SimTime since = place.in_full - weights_.max_age;
    place.job.behind -=
        static_cast<double>(weights_.age) *
        (FractionalSeconds(since.time_since_epoch()) / FractionalSeconds(weights_.max_age));
    place.kind.ranked = Ranked::in_full;
    Line& full = lines_[place.kind];
    full.ranked = Ranked::in_full;
    full.jobs.insert(std::ranges::upper_bound(full.jobs, place.job), place.job);
  }
  std::erase_if(lines_, [](const auto& line) { return line.second.jobs.empty(); });
}

void MultifactorQueue::remove(JobId id) {
  const Place& place = places_.at(id);
  if (const auto gang = gangs_.find(place.gang); --gang->second == 0) gangs_.erase(gang);
  if (place.is_new) {
    leaders_.erase(place.entry());
  } else {
    const auto found = lines_.find(place.kind);
    Line& line = found->second;
    const bool leads = lined_up_ && line.jobs.front() == place.job;
    if (leads) leaders_.erase(entry_of(line, place.job));
    line.jobs.erase(std::ranges::lower_bound(line.jobs, place.job));
    if (leads && !line.jobs.empty()) leaders_.insert(entry_of(line, line.jobs.front()));
    if (line.jobs.empty()) lines_.erase(found);
  }
  places_.erase(id);
}

void MultifactorQueue::line_up() {
  if (lined_up_) return;
  for (auto& [kind, line] : lines_) {
    weigh(line, kind, calculated_);
    leaders_.insert(entry_of(line, line.jobs.front()));
  }
  lined_up_ = true;
}

JobId MultifactorQueue::first() {
  line_up();
  return leaders_.begin()->job;
}

MultifactorQueue::InOrder MultifactorQueue::in_order() {
  line_up();
  return InOrder(*this);
}

std::optional<MultifactorQueue::Entry> MultifactorQueue::InOrder::next() {
  const bool leads = leader_ != queue_.leaders_.end();
  if (!leads && followers_.empty()) return std::nullopt;
  if (!leads || (!followers_.empty() && followers_.top().entry < *leader_)) {
    const Follower next = followers_.top();
    followers_.pop();
    follow(*next.line, next.place + 1);
    return next.entry;
  }
  const Entry next = *leader_++;
  const Place& place = queue_.places_.at(next.job);
  if (!place.is_new) follow(queue_.lines_.at(place.kind), 1);
  return next;
}

void MultifactorQueue::InOrder::follow(const Line& line, std::size_t place) {
  if (place < line.jobs.size())
    followers_.push({queue_.entry_of(line, line.jobs[place]), &line, place});
}

}  // namespace schedmate::policy
