// SPDX-License-Identifier: Apache-2.0
#include "eta/draws.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "base/random.hpp"

namespace schedmate::eta {
namespace {

std::uint64_t hash_of(const std::string& id) {
  std::uint64_t hash = 0;
  for (const char each : id) hash = mix(hash ^ static_cast<unsigned char>(each));
  return hash;
}

}  // namespace

Kin::Kin(const SnapshotJob& job)
    : running(job.started.has_value()),
      circles{job.user, static_cast<std::uint64_t>(job.gpus), job.burst, hash_of(job.id)} {}

/// Run times of one user resemble one another, of one size more, of one burst most. What runs still
/// has told by running what the two kinds have in common, so they are drawn apart. Parts: measured
/// on Venus and Philly (docs/decisions/0024).
double Draws::share_of(const Kin& kin) {
  constexpr std::array of_running{0.20, 0.15, 0.30, 0.35};
  constexpr std::array of_waiting{0.10, 0.05, 0.15, 0.70};
  const auto& parts = kin.running ? of_running : of_waiting;
  std::size_t same = 0;
  if (last_ != nullptr && last_->running == kin.running)
    while (same < parts.size() && last_->circles[same] == kin.circles[same]) ++same;
  std::uint64_t key =
      same > 0 ? keys_[same - 1] : mix(seed_ ^ mix(2 * sample_ + (kin.running ? 1 : 0)));
  double z = same > 0 ? sums_[same - 1] : 0;
  for (std::size_t i = same; i < parts.size(); ++i) {
    keys_[i] = key = mix(key ^ mix(kin.circles[i]));
    sums_[i] = z += std::sqrt(parts[i]) * Random(key).normal();
  }
  last_ = &kin;
  const double stretch = kin.running ? 1.15 : 1;
  return std::clamp(0.5 * std::erfc(-stretch * z / std::numbers::sqrt2), 0.0, 1 - 1e-9);
}

/// A limit is an upper bound. Where its owner chose it knowing that the run ends before, a running
/// job is drawn from what ends by then. A waiting one is not: that takes long runs away from jobs
/// with short limits and gives none to those with long ones, so that all are too short
/// (docs/decisions/0024).
double run_time_of(const SnapshotJob& job, const QueueSnapshot& snapshot, double share) {
  constexpr double unlimited = std::numeric_limits<double>::infinity();
  const double ran = job.started ? static_cast<double>((snapshot.now - *job.started).count()) : 0;
  const double limit = job.limit ? static_cast<double>(job.limit->count()) : unlimited;
  const bool ends_before = job.started && !snapshot.limits_kill;
  const double ran_s = job.belief.draw(share, ran, ends_before ? limit : unlimited);
  return std::max(std::min(ran_s, limit), ran + 1);
}

}  // namespace schedmate::eta
