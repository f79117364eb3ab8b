// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "base/random.hpp"
#include "whatif/compare.hpp"

namespace schedmate::whatif {
namespace {

constexpr std::size_t few_jobs = 30;
/// Of fewer jobs no interval holds: five that all go one way do so by chance one time in sixteen.
constexpr std::size_t least_jobs = 6;
/// A run up to so many times as far from what was as the replay may be what was.
constexpr double near_to_past = 2;
constexpr std::size_t most_draws = 1000;
constexpr std::size_t least_draws = 200;
constexpr std::size_t draw_budget = 20'000'000;  // jobs drawn for one group

double at_least_a_second(Seconds duration) {
  return std::max(1.0, static_cast<double>(duration.count()));
}

/// The jobs of one group, until its figures are made.
struct Members {
  std::vector<double> log_ratios;
  double replay_log_ratio = 0;
  double replay_log_error = 0;
  double end_shift_s = 0;
  double replay_end_error_s = 0;
  double wait_s = 0;
  double replay_wait_s = 0;
  double real_wait_s = 0;
};

/// Waiting in all queues, with what the job waited before the record became complete.
double wait_s(const Job& job, const PastJob& past, const JobOutcome& outcome) {
  return static_cast<double>((outcome.queue + (job.submit - past.eligible)).count());
}

/// The percentile interval of the mean over resampled jobs (Efron and Tibshirani 1993, 13).
void set_interval(const std::vector<double>& values, std::uint64_t seed, Change& change) {
  const std::size_t draws = std::clamp(draw_budget / values.size(), least_draws, most_draws);
  Random random(seed);
  std::vector<double> means(draws);
  const auto size = static_cast<std::int64_t>(values.size());
  for (double& mean : means) {
    double sum = 0;
    for (std::int64_t i = 0; i < size; ++i)
      sum += values[static_cast<std::size_t>(random.below(size))];
    mean = sum / static_cast<double>(size);
  }
  std::ranges::sort(means);
  change.low = means[draws * 25 / 1000];
  change.high = means[draws - 1 - draws * 25 / 1000];
}

/// What a verdict rests on beside the figures of its group.
struct Ground {
  bool gpu_use_invented = false;
  double model_error = 0;  ///< of all jobs: a small group may be replayed exactly by chance
};

/// docs/decisions/0015-whatif.md derives the bounds.
LowConfidenceReason doubt_of(const Change& change, const Ground& ground) {
  if (change.jobs < least_jobs) return LowConfidenceReason::few_jobs;
  if (change.verdict == Effect::unclear) return LowConfidenceReason::unclear;
  if (ground.gpu_use_invented) return LowConfidenceReason::gpu_use;
  if (std::abs(change.log_ratio) <= std::max(model_error(change), ground.model_error))
    return LowConfidenceReason::replay_error;
  if (change.end_shift_s <= near_to_past * change.replay_end_error_s)
    return LowConfidenceReason::near_to_past;
  return change.jobs < few_jobs ? LowConfidenceReason::few_jobs : LowConfidenceReason::none;
}

Confidence confidence_in(const Change& change) {
  switch (change.doubt) {
    case LowConfidenceReason::none:
      return Confidence::high;
    case LowConfidenceReason::few_jobs:
      return change.jobs < least_jobs ? Confidence::none : Confidence::medium;
    case LowConfidenceReason::unclear:
      return Confidence::none;
    case LowConfidenceReason::gpu_use:
    case LowConfidenceReason::replay_error:
    case LowConfidenceReason::near_to_past:
      return Confidence::low;
  }
  return Confidence::none;
}

void judge(Change& change, const Ground& ground) {
  if (change.jobs >= least_jobs && change.high < 0) change.verdict = Effect::gains;
  if (change.jobs >= least_jobs && change.low > 0) change.verdict = Effect::loses;
  change.doubt = doubt_of(change, ground);
  change.confidence = confidence_in(change);
}

/// That of all jobs, from those of the groups.
double model_error(std::span<const Members> groups) {
  double jobs = 0;
  double log_ratio = 0;
  double log_error = 0;
  for (const Members& group : groups) {
    jobs += static_cast<double>(group.log_ratios.size());
    log_ratio += group.replay_log_ratio;
    log_error += group.replay_log_error;
  }
  return jobs > 0 ? (log_error + std::abs(log_ratio)) / jobs : 0;
}

Change summarise(const std::string& name, const Members& members) {
  Change change;
  change.name = name;
  change.jobs = members.log_ratios.size();
  const auto n = static_cast<double>(change.jobs);
  change.log_ratio = std::accumulate(members.log_ratios.begin(), members.log_ratios.end(), 0.0) / n;
  change.replay_log_ratio = members.replay_log_ratio / n;
  change.replay_log_error = members.replay_log_error / n;
  change.end_shift_s = members.end_shift_s / n;
  change.replay_end_error_s = members.replay_end_error_s / n;
  change.wait_s = members.wait_s / n;
  change.replay_wait_s = members.replay_wait_s / n;
  change.real_wait_s = members.real_wait_s / n;
  return change;
}

double apart_s(SimTime a, SimTime b) { return std::abs(static_cast<double>((a - b).count())); }

}  // namespace

double model_error(const Change& change) {
  return change.replay_log_error + std::abs(change.replay_log_ratio);
}

std::string_view to_string(Effect effect) {
  if (effect == Effect::gains) return "gains";
  return effect == Effect::loses ? "loses" : "unclear";
}

std::string_view to_string(Confidence confidence) {
  switch (confidence) {
    case Confidence::none:
      return "none";
    case Confidence::low:
      return "low";
    case Confidence::medium:
      return "medium";
    case Confidence::high:
      return "high";
  }
  return "";
}

std::string_view to_string(LowConfidenceReason doubt) {
  switch (doubt) {
    case LowConfidenceReason::none:
      return "none";
    case LowConfidenceReason::unclear:
      return "unclear";
    case LowConfidenceReason::gpu_use:
      return "gpu_use";
    case LowConfidenceReason::replay_error:
      return "replay_error";
    case LowConfidenceReason::near_to_past:
      return "near_to_past";
    case LowConfidenceReason::few_jobs:
      return "few_jobs";
  }
  return "";
}

std::vector<Change> compare(const RecordedCluster& world, const Pair& runs, const Grouping& groups,
                            std::uint64_t seed) {
  std::vector<Members> members(groups.names.size());
  for (std::size_t row = 0; row < world.past.size(); ++row) {
    const PastJob& past = world.past[row];
    const JobOutcome& replay = runs.replay.outcomes[row];
    const JobOutcome& policy = runs.policy.outcomes[row];
    if (past.pinned || past.censored || replay.status != JobStatus::finished ||
        policy.status != JobStatus::finished)
      continue;
    const double replay_jct = at_least_a_second(replay.end - past.eligible);
    Members& group = members[groups.of_row[row]];
    group.log_ratios.push_back(
        std::log(at_least_a_second(policy.end - past.eligible) / replay_jct));
    const double error = std::log(replay_jct / at_least_a_second(past.end - past.eligible));
    group.replay_log_ratio += error;
    group.replay_log_error += std::abs(error);
    group.end_shift_s += apart_s(policy.end, past.end);
    group.replay_end_error_s += apart_s(replay.end, past.end);
    const Job& job = world.trace.jobs[row];
    group.wait_s += wait_s(job, past, policy);
    group.replay_wait_s += wait_s(job, past, replay);
    group.real_wait_s += static_cast<double>((past.start - past.eligible).count());
  }
  const Ground ground{runs.gpu_use_invented, model_error(members)};
  std::vector<Change> changes;
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (members[i].log_ratios.empty()) continue;
    Change& change = changes.emplace_back(summarise(groups.names[i], members[i]));
    set_interval(members[i].log_ratios, mix(seed) ^ i, change);
    judge(change, ground);
  }
  return changes;
}

}  // namespace schedmate::whatif
