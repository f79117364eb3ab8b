// SPDX-License-Identifier: Apache-2.0
#include "synth/failures.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <tuple>

namespace schedmate::synth {
namespace {

constexpr std::string_view evaluation = "Evaluation";
constexpr double least_sigma = 0.25;  // where the printed mean leaves no width
constexpr double least_printed = 0.05;
constexpr double least_gpu_sigma = 1.5;  // the table's jobs are larger than most of a cluster's
constexpr double most_factor = 8;
constexpr int rounds = 50;

double sigma_of(const Spread& spread) {
  return spread.mean > spread.median
             ? std::sqrt(2 * std::log(spread.mean / std::max(spread.median, least_printed / 2)))
             : 0;
}

/// Logarithm of the density over log(value), but for a constant; sigma at least `least`.
double log_density(const Spread& spread, double value, double least) {
  const double sigma = std::max(sigma_of(spread), least);
  const double z = std::log(value / std::max(spread.median, least_printed / 2)) / sigma;
  return -0.5 * z * z - std::log(sigma);
}

/// Failed jobs that are alike: type, GPUs, and run time to a quarter of a power of two.
using Key = std::tuple<int, int, int>;

struct Group {
  std::vector<std::uint32_t> jobs;
  std::vector<double> chances;  // of each cause
};

double likelihood(const FailureCause& cause, std::string_view type, const SynthJob& job) {
  if (job.gpus < cause.min_gpus || (!cause.evaluation && type == evaluation)) return 0;
  const double minutes = static_cast<double>(job.run_s) / 60;
  const double exponent = log_density(cause.gpus, static_cast<double>(job.gpus), least_gpu_sigma) +
                          log_density(cause.minutes, minutes, least_sigma);
  return std::exp(std::max(exponent, -500.0));
}

double total_of(const std::vector<double>& values) {
  double total = 0;
  for (const double each : values) total += each;
  return total;
}

void scale_to_one(std::vector<double>& chances) {
  const double total = total_of(chances);
  for (double& each : chances) each = total > 0 ? each / total : 0;
}

/// Factors for the causes, so that their numbers come out as far as `most_factor` allows.
void fit_counts(const std::vector<FailureCause>& causes, std::map<Key, Group>& groups) {
  double all = 0;
  for (const FailureCause& cause : causes) all += cause.count;
  double failed = 0;
  for (const auto& [key, group] : groups) failed += static_cast<double>(group.jobs.size());
  std::vector<double> factors(causes.size(), 1.0);
  std::vector<double> chances;
  const auto scaled = [&](const Group& group) {
    chances = group.chances;
    for (std::size_t i = 0; i < causes.size(); ++i) chances[i] *= factors[i];
    scale_to_one(chances);
  };
  for (int round = 0; round < rounds; ++round) {
    std::vector<double> expected(causes.size(), 0.0);
    for (const auto& [key, group] : groups) {
      scaled(group);
      for (std::size_t i = 0; i < causes.size(); ++i)
        expected[i] += chances[i] * static_cast<double>(group.jobs.size());
    }
    for (std::size_t i = 0; i < causes.size(); ++i) {
      const double wanted = causes[i].count / all * failed;
      factors[i] = std::clamp(factors[i] * wanted / std::max(expected[i], 1e-200), 1 / most_factor,
                              most_factor);
    }
  }
  for (auto& [key, group] : groups) {
    scaled(group);
    group.chances = chances;
  }
}

std::int32_t draw_cause(const std::vector<double>& chances, Random& random) {
  double drawn = random.uniform();
  std::int32_t chosen = -1;
  for (std::size_t i = 0; i < chances.size(); ++i) {
    if (chances[i] <= 0) continue;
    chosen = static_cast<std::int32_t>(i);
    if (drawn < chances[i]) break;
    drawn -= chances[i];
  }
  return chosen;
}

}  // namespace

double draw_spread(const Spread& spread, Random& random) {
  if (spread.median < least_printed && spread.mean < least_printed) return 0;
  const double median = std::max(spread.median, least_printed / 2);
  return median * std::exp(sigma_of(spread) * random.normal());
}

void assign_causes(const Published& published, SynthJobs& jobs, Random random) {
  std::map<Key, Group> groups;
  for (std::uint32_t i = 0; i < jobs.size(); ++i) {
    const SynthJob& job = jobs[i];
    if (synth_states[job.state] != EndState::failed) continue;
    const auto step = static_cast<int>(4 * std::log2(static_cast<double>(job.run_s)));
    Group& group = groups[{job.type, job.gpus, step}];
    if (group.jobs.empty()) {
      for (const FailureCause& cause : published.causes) {
        group.chances.push_back(cause.count *
                                likelihood(cause, published.cluster.types[job.type].name, job));
      }
    }
    group.jobs.push_back(i);
  }
  constexpr double minute_s = 60;
  fit_counts(published.causes, groups);
  for (const auto& [key, group] : groups) {
    for (const std::uint32_t i : group.jobs) {
      jobs[i].cause = draw_cause(group.chances, random);
      if (jobs[i].cause < 0) continue;
      const auto& cause = published.causes[static_cast<std::size_t>(jobs[i].cause)];
      jobs[i].restart_s = std::llround(minute_s * draw_spread(cause.restart_minutes, random));
    }
  }
}

}  // namespace schedmate::synth
