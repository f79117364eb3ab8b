// SPDX-License-Identifier: Apache-2.0
#include "synth/users.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <span>

namespace schedmate::synth {
namespace {

double gpu_s(const SynthJob& job) {
  return static_cast<double>(job.gpus) * static_cast<double>(job.run_s);
}

double curve_at(const Cdf& curve, double percent) {
  const auto next = std::ranges::lower_bound(curve, percent, {}, &CdfPoint::x);
  if (next == curve.end()) return curve.back().percent;
  if (next == curve.begin()) return next->percent;
  const CdfPoint& before = *std::prev(next);
  return before.percent +
         (next->percent - before.percent) * (percent - before.x) / (next->x - before.x);
}

/// By the room that is left; the one with most when none has enough.
std::size_t draw_user(const std::vector<double>& room, double needed, Random& random) {
  double total = 0;
  for (const double each : room) total += each >= needed ? each : 0;
  if (total <= 0) {
    return static_cast<std::size_t>(std::ranges::max_element(room) - room.begin());
  }
  double drawn = random.uniform() * total;
  std::size_t chosen = 0;
  for (std::size_t i = 0; i < room.size(); ++i) {
    if (room[i] < needed || room[i] <= 0) continue;
    chosen = i;
    if (drawn < room[i]) break;
    drawn -= room[i];
  }
  return chosen;
}

}  // namespace

std::vector<double> user_shares(const ClusterFigures& cluster) {
  std::vector<double> shares;
  double before = 0;
  for (std::int64_t i = 0; i < cluster.users; ++i) {
    const double percent = 100 * static_cast<double>(i) / static_cast<double>(cluster.users);
    const double upto = i + 1 == cluster.users ? 100 : curve_at(cluster.user_share, percent);
    shares.push_back((upto - before) / 100);
    before = upto;
  }
  return shares;
}

void assign_users(const ClusterFigures& cluster, const Streaks& streaks, SynthJobs& jobs,
                  Random random) {
  const auto members = [&](const Burst& burst) {
    return std::span(&streaks.order[burst.first], burst.count);
  };
  std::vector<double> times;
  for (const Burst& burst : streaks.bursts) {
    double gpus_s = 0;
    for (const std::uint32_t job : members(burst)) gpus_s += gpu_s(jobs[job]);
    times.push_back(gpus_s);
  }
  std::vector<std::uint32_t> order(times.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, std::greater<>(), [&](std::uint32_t i) { return times[i]; });
  std::vector<double> room = user_shares(cluster);
  const double total = std::accumulate(times.begin(), times.end(), 0.0);
  for (double& each : room) each *= total;
  for (const std::uint32_t i : order) {
    const std::size_t user = draw_user(room, times[i], random);
    room[user] -= times[i];
    for (const std::uint32_t job : members(streaks.bursts[i]))
      jobs[job].user = static_cast<std::uint32_t>(user);
  }
}

double top_share(const ClusterFigures& cluster, const SynthJobs& jobs, double percent) {
  std::vector<double> times(static_cast<std::size_t>(cluster.users));
  for (const SynthJob& job : jobs) times[job.user] += gpu_s(job);
  std::ranges::sort(times, std::greater<>());
  const auto top =
      static_cast<std::ptrdiff_t>(std::ceil(percent / 100 * static_cast<double>(times.size())));
  const double total = std::accumulate(times.begin(), times.end(), 0.0);
  return total > 0 ? 100 * std::accumulate(times.begin(), times.begin() + top, 0.0) / total : 0;
}

}  // namespace schedmate::synth
