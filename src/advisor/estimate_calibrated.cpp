// SPDX-License-Identifier: Apache-2.0

/// The default estimate (docs/decisions/0011): matches weighted by similarity, age and trust,
/// scaled to this job; those that ended early stay in as what they are; outliers go; without
/// matches the user's last jobs; the interval comes from how far off past advice was.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "advisor/conformal.hpp"
#include "advisor/estimates.hpp"
#include "advisor/weighted.hpp"

namespace schedmate::advisor {
namespace {

/// An early end came at its own moment: it does not scale with the work that was planned.
Weighted point_of(const PastRun& run, double weight) {
  const double scaled = log_of(run.duration) + (ended_early(run) ? 0 : std::log(run.scale));
  return {std::max(0.0, scaled), weight};
}

/// Runs weighted and by submission, newest first.
struct CandidateRuns {
  std::vector<PastRun> runs;
  Sample sample;  ///< log durations, one for each run
};

CandidateRuns consider(std::span<const PastRun> matches, SimTime now) {
  CandidateRuns considered{{matches.begin(), matches.end()}, {}};
  std::ranges::stable_sort(considered.runs, std::ranges::greater(), &PastRun::submit);
  for (std::size_t i = 0; i < considered.runs.size(); ++i) {
    const PastRun& run = considered.runs[i];
    considered.sample.push_back(point_of(run, weight_of_run(run, i, now)));
  }
  return considered;
}

/// Takes out completed runs that lie far off the others; early ends are no outliers, but a mode of
/// their own. Returns how many went.
std::size_t reject_outliers(CandidateRuns& considered) {
  constexpr std::size_t enough = 4;
  constexpr double far = 3.5;
  constexpr double least_spread = 0.1;  // runs that differ by a tenth are equal for this purpose
  Sample full;
  for (std::size_t i = 0; i < considered.runs.size(); ++i)
    if (!ended_early(considered.runs[i])) full.push_back({considered.sample[i].value, 1});
  if (full.size() < enough) return 0;
  const double centre = quantile(full, 0.5);
  const double reach = far * std::max(least_spread, robust_spread(full, centre));
  std::size_t rejected = 0;
  for (std::size_t i = considered.runs.size(); i-- > 0;) {
    const bool is_far = std::abs(considered.sample[i].value - centre) > reach;
    if (ended_early(considered.runs[i]) || !is_far) continue;
    const auto at = static_cast<std::ptrdiff_t>(i);
    considered.runs.erase(considered.runs.begin() + at);
    considered.sample.erase(considered.sample.begin() + at);
    ++rejected;
  }
  return rejected;
}

double chance_of_early_end(const CandidateRuns& considered) {
  double early = 0;
  for (std::size_t i = 0; i < considered.runs.size(); ++i)
    if (ended_early(considered.runs[i])) early += considered.sample[i].weight;
  return early / total_weight(considered.sample);
}

FractionalSeconds mean_duration(const Sample& sample) {
  Sample plain = sample;
  for (Weighted& each : plain) each.value = std::exp(each.value);
  return FractionalSeconds(mean_of(plain));
}

}  // namespace

double weight_of_run(const PastRun& run, std::size_t later_ones, SimTime now) {
  constexpr double half_count = 3;
  const double half_life = FractionalSeconds(std::chrono::months(1)).count();
  const double age = std::max(0.0, FractionalSeconds(now - run.submit).count());
  const double similarity = run.score * run.score;
  return similarity * run.trust * std::exp2(-static_cast<double>(later_ones) / half_count) *
         std::exp2(-age / half_life);
}

double usual_spread(AdviceSource source) {
  switch (source) {
    case AdviceSource::resubmission:
      return 1.2;
    case AdviceSource::similar:
      return 1.8;
    default:
      return 2.2;
  }
}

double spread_of(const Sample& sample, double centre, AdviceSource source) {
  constexpr double usual_counts_as = 2;
  const auto count = static_cast<double>(sample.size());
  return (count * robust_spread(sample, centre) + usual_counts_as * usual_spread(source)) /
         (count + usual_counts_as);
}

Estimate estimate_calibrated(const EstimateInput& given) {
  EstimateInput input = given;
  Estimate estimate;
  CandidateRuns considered = consider(input.matches, input.now);
  if (!(total_weight(considered.sample) > 0)) {
    considered = consider(input.own.first(std::min(user_runs, input.own.size())), input.now);
    input.source = AdviceSource::user_history;
  }
  if (!(total_weight(considered.sample) > 0)) return estimate;
  if (const std::size_t gone = reject_outliers(considered); gone > 0)
    estimate.notes.push_back(fmt::format("{} past runs left out as outliers", gone));
  const double centre = quantile(considered.sample, 0.5);
  const LogInterval reach =
      conformal_interval(input, spread_of(considered.sample, centre, input.source));
  estimate.source = input.source;
  estimate.runs = considered.runs.size();
  estimate.p50 = FractionalSeconds(std::exp(centre));
  estimate.p10 = FractionalSeconds(std::exp(centre + reach.low));
  estimate.p90 = FractionalSeconds(std::exp(centre + reach.high));
  estimate.mean = mean_duration(considered.sample);
  estimate.early_end = chance_of_early_end(considered);
  average_gpu_use(considered.runs, estimate);
  keep_within(input.limit, estimate);
  return estimate;
}

}  // namespace schedmate::advisor
