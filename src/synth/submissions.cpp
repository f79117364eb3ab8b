// SPDX-License-Identifier: Apache-2.0
#include "synth/submissions.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace schedmate::synth {
namespace {

constexpr std::int64_t hour_s = 3600;
constexpr double shortest_gap_s = 5;
constexpr double batch_gap_s = 2;  // ours: mean of the gaps in a batch that are not zero

/// Jobs submitted from 0 to `s` in a day curve that goes on.
double submitted(const std::array<double, 24>& hourly, double s) {
  const double day = std::accumulate(hourly.begin(), hourly.end(), 0.0);
  const double hours = s / hour_s;
  const double days = std::floor(hours / 24);
  double total = days * day;
  double left = hours - 24 * days;
  for (const double each : hourly) {
    if (left <= 0) break;
    total += each * std::min(left, 1.0);
    left -= 1;
  }
  return total;
}

/// Offsets from the first job of the burst.
void burst_times(bool batch, double zero_share, std::span<std::int64_t> times, Random& random) {
  std::int64_t now = 0;
  for (std::size_t i = 1; i < times.size(); ++i) {
    const double drawn = random.uniform();
    const double gap_draw = random.uniform();
    if (!batch) {
      now +=
          static_cast<std::int64_t>(shortest_gap_s * std::pow(hour_s / shortest_gap_s, gap_draw));
    } else if (drawn >= zero_share) {
      now += 1 + static_cast<std::int64_t>(-batch_gap_s * std::log(1 - gap_draw));
    }
    times[i] = now;
  }
}

void submit_all(const SubmissionPlan& plan, double zero_share, SynthJobs& jobs, Random random) {
  const auto& [published, streaks, span_s] = plan;
  std::vector<std::int64_t> times;
  for (const Burst& burst : streaks.bursts) {
    const std::span members(&streaks.order[burst.first], burst.count);
    times.assign(burst.count, 0);
    burst_times(published.cluster.types[jobs[members[0]].type].batches, zero_share, times, random);
    const std::int64_t wish = day_curve(published.cluster.hourly, span_s, random.uniform());
    const std::int64_t start = std::max<std::int64_t>(0, std::min(wish, span_s - 1 - times.back()));
    for (std::size_t i = 0; i < members.size(); ++i)
      jobs[members[i]].submit_s = std::min(start + times[i], span_s - 1);
  }
}

}  // namespace

std::int64_t day_curve(const std::array<double, 24>& hourly, std::int64_t span_s, double u) {
  const double day = std::accumulate(hourly.begin(), hourly.end(), 0.0);
  const double wanted = u * submitted(hourly, static_cast<double>(span_s));
  const double days = std::floor(wanted / day);
  double left = wanted - days * day;
  double s = days * 24 * hour_s;
  for (const double each : hourly) {
    if (left < each) return static_cast<std::int64_t>(s + hour_s * left / each);
    left -= each;
    s += hour_s;
  }
  return static_cast<std::int64_t>(s);
}

Gaps gaps_of(const SynthJobs& jobs) {
  std::vector<std::int64_t> times;
  for (const SynthJob& job : jobs) times.push_back(job.submit_s);
  std::ranges::sort(times);
  double zeros = 0;
  double squares = 0;
  const auto count = static_cast<double>(times.size()) - 1;
  if (count < 1) return {};
  for (std::size_t i = 1; i < times.size(); ++i) {
    const auto gap = static_cast<double>(times[i] - times[i - 1]);
    zeros += gap == 0 ? 1 : 0;
    squares += gap * gap;
  }
  const double mean = static_cast<double>(times.back() - times.front()) / count;
  const double variance = std::max(0.0, squares / count - mean * mean);
  return {100 * zeros / count, mean > 0 ? std::sqrt(variance) / mean : 0};
}

void submit_bursts(const SubmissionPlan& plan, SynthJobs& jobs, Random random) {
  const double wanted = plan.published.behaviour.zero_gap_percent;
  double low = 0;
  double high = 1;
  constexpr int rounds = 8;
  for (int round = 0; round < rounds; ++round) {
    const double share = round == 0 ? 0 : (low + high) / 2;
    submit_all(plan, share, jobs, random);
    const double zeros = gaps_of(jobs).zero_percent;
    if (round == 0 && zeros >= wanted) return;  // so many jobs that chance alone gives more
    (zeros < wanted ? low : high) = round == 0 ? low : share;
  }
}

}  // namespace schedmate::synth
