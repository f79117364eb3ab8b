// SPDX-License-Identifier: Apache-2.0
#include "policy/skill.hpp"

#include <algorithm>
#include <cmath>

namespace schedmate::policy {
namespace {

/// By how much the squared error, in log seconds, falls.
double gain_of_length(const Expected& job, double blended) {
  return std::pow(job.host - job.truth, 2) - std::pow(blended - job.truth, 2);
}

/// Gains below this move jobs about without an end: chance decides what comes of it.
double worth(AdviceGoal purpose) { return purpose == AdviceGoal::order ? 0.02 : 0.1; }

}  // namespace

void RecentJobs::add(const Expected& job) {
  constexpr std::size_t most = 100;
  if (jobs_.size() == most) jobs_.pop_front();
  jobs_.push_back(job);
}

double RecentJobs::gain_of_order(const Expected& job, double blended) const {
  double gained = 0;
  double all = 0;
  for (const Expected& peer : jobs_) {
    const double smaller = job.log_gpus - peer.log_gpus;
    const double apart = smaller + job.truth - peer.truth;
    const auto side = [&](double value) {
      const double behind = smaller + value - peer.host;
      return (behind > 0) - (behind < 0);
    };
    gained += apart * (side(blended) - side(job.host)) / 2;
    all += std::abs(apart);
  }
  return all > 0 ? gained / all : 0;
}

void Skill::add(const Expected& job, const RecentJobs& peers, AdviceGoal purpose) {
  for (Tally& each : tallies_) {
    const double blended = std::lerp(job.host, job.advised, each.weight);
    each.add(purpose == AdviceGoal::order ? peers.gain_of_order(job, blended)
                                          : gain_of_length(job, blended));
  }
}

double Skill::weight(AdviceGoal purpose) const {
  double best = worth(purpose);
  double weight = 0;
  for (const Tally& each : tallies_) {
    if (each.proven() <= best) continue;
    best = each.proven();
    weight = each.weight;
  }
  return weight;
}

void Skill::Tally::add(double gain) {
  constexpr double decay = 0.995;  // half of it is gone after 138 jobs
  jobs = decay * jobs + 1;
  gains = decay * gains + gain;
  squares = decay * squares + gain * gain;
}

double Skill::Tally::proven() const {
  constexpr double standard_errors = 2.5;
  constexpr double enough = 10;
  if (jobs < enough) return 0;
  const double mean = gains / jobs;
  const double variance = std::max(0.0, squares / jobs - mean * mean);
  return mean - standard_errors * std::sqrt(variance / jobs);
}

}  // namespace schedmate::policy
