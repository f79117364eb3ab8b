// SPDX-License-Identifier: Apache-2.0
#include "eta/run_time_model.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace schedmate::eta {
namespace {

constexpr std::size_t bins = RunTimeCurve::bins;

// Chosen on days 3 to 7 of Venus and the first half of Philly (docs/decisions/0024).
constexpr double prolific = -0.3;  // power of a user's number of runs in the site's part
constexpr double site_age_s = 4 * 86'400;
constexpr double same_pool = 3, same_size = 3;
constexpr double nobody = 0.3;  // weight of Pareto's law where nobody has been
constexpr std::size_t most_own = 400;
constexpr double near_runs = 30, near_power = -0.7;
constexpr double other_size = 0.2, other_pool = 0.3, same_burst = 20;
constexpr double open_weight = 0.5;                       // of a run that has not ended
constexpr double blur_waiting = 0.1, blur_running = 0.6;  // in log(60 s + run time)
constexpr Seconds burst_gap{600};

std::size_t size_class(std::int32_t gpus) {
  constexpr std::array<std::int32_t, 6> up_to = {1, 2, 4, 8, 16, 32};
  return static_cast<std::size_t>(std::ranges::lower_bound(up_to, gpus) - up_to.begin());
}

std::size_t bin_of(double seconds) {
  return std::min(static_cast<std::size_t>(RunTimeCurve::place_of(std::max(1.0, seconds))),
                  bins - 1);
}

/// Spread over the bins around them.
std::array<double, bins> blurred(const std::array<double, bins>& sharp, double sigma) {
  const auto reach = static_cast<int>(std::ceil(3 * sigma / RunTimeCurve::width));
  std::vector<double> kernel;
  double sum = 0;
  for (int k = -reach; k <= reach; ++k) {
    const double off = k * RunTimeCurve::width / sigma;
    sum += kernel.emplace_back(std::exp(-off * off / 2));
  }
  std::array<double, bins> made{};
  for (std::size_t bin = 0; bin < bins; ++bin) {
    if (sharp[bin] == 0) continue;
    for (int k = -reach; k <= reach; ++k) {
      const int to = std::clamp(static_cast<int>(bin) + k, 0, static_cast<int>(bins) - 1);
      const int of_kernel = k + reach;
      made[static_cast<std::size_t>(to)] +=
          sharp[bin] * kernel[static_cast<std::size_t>(of_kernel)] / sum;
    }
  }
  return made;
}

}  // namespace

void RunTimeModel::Counts::add(double ran_s, double weight, bool has_ended) {
  (has_ended ? ended : open)[bin_of(ran_s)] += weight;
}

void RunTimeModel::Counts::add(const Counts& other, double weight) {
  for (std::size_t bin = 0; bin < bins; ++bin) {
    ended[bin] += weight * other.ended[bin];
    open[bin] += weight * other.open[bin];
  }
}

RunTimeModel::Weights RunTimeModel::Counts::at_risk() const {
  Weights reach{};
  double beyond = 0;
  for (std::size_t bin = bins; bin-- > 0;) {
    reach[bin] = beyond + ended[bin] + open[bin] / 2;
    beyond += ended[bin] + open[bin];
  }
  return reach;
}

RunTimeModel::RunTimeModel(std::vector<Submitted> submissions, SimTime now)
    : jobs_(std::move(submissions)) {
  std::map<std::pair<std::uint32_t, std::int32_t>, std::size_t> last;
  std::uint32_t bursts = 0;
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    const auto [before, first] = last.try_emplace({jobs_[i].user, jobs_[i].gpus}, i);
    const bool joins = !first && jobs_[i].submit - jobs_[before->second].submit <= burst_gap;
    bursts_.push_back(joins ? bursts_[before->second] : bursts++);
    before->second = i;
    if (jobs_[i].start) started_[jobs_[i].user].push_back(i);
  }
  std::map<std::uint32_t, std::array<Counts, sizes>> by_pool;
  for (const auto& [user, runs] : started_) {
    const double of_user = std::pow(static_cast<double>(runs.size()), prolific);
    for (const std::size_t i : runs) {
      const Submitted& run = jobs_[i];
      const double age = FractionalSeconds(now - *run.start).count() / site_age_s;
      by_pool[run.pool][size_class(run.gpus)].add(run.ran_s, of_user * std::exp(-age), run.ended);
    }
  }
  Counts all;
  std::array<Counts, sizes> by_size;
  for (const auto& [pool, counts] : by_pool)
    for (std::size_t size = 0; size < sizes; ++size) {
      all.add(counts[size], 1);
      by_size[size].add(counts[size], 1);
    }
  const auto prior_of = [](const Counts& counts) {
    Prior made;
    const Weights at_risk = counts.at_risk();
    const double pareto = -std::expm1(-RunTimeCurve::width);
    double reach = 1;
    for (std::size_t bin = 0; bin < bins; ++bin) {
      made.reach[bin] = reach;
      made.chance[bin] = (counts.ended[bin] + nobody * pareto) / (at_risk[bin] + nobody);
      reach *= 1 - made.chance[bin];
    }
    return made;
  };
  anywhere_ = prior_of(all);
  for (const auto& [pool, counts] : by_pool) {
    Counts of_pool;
    for (const Counts& each : counts) of_pool.add(each, 1);
    for (std::size_t size = 0; size < sizes; ++size) {
      Counts mixed = all;
      mixed.add(of_pool, same_pool - 1);
      mixed.add(by_size[size], same_size - 1);
      mixed.add(counts[size], (same_pool - 1) * (same_size - 1));
      priors_[{pool, size}] = prior_of(mixed);
    }
  }
}

const RunTimeModel::Prior& RunTimeModel::prior(std::uint32_t pool, std::size_t size) const {
  const auto found = priors_.find({pool, size});
  return found == priors_.end() ? anywhere_ : found->second;
}

bool RunTimeModel::has_own(std::size_t i) const {
  const auto runs = started_.find(jobs_[i].user);
  return runs != started_.end() && (runs->second.size() > 1 || runs->second.front() != i);
}

/// The nearest on both sides in order of submission; between them only runs of the job's size
/// count as distance.
RunTimeModel::Counts RunTimeModel::own_runs(std::size_t i) const {
  Counts counts;
  const auto of_user = started_.find(jobs_[i].user);
  if (of_user == started_.end()) return counts;
  const std::vector<std::size_t>& runs = of_user->second;
  const Submitted& job = jobs_[i];
  std::size_t after = static_cast<std::size_t>(std::ranges::lower_bound(runs, i) - runs.begin());
  std::size_t before = after;  // one behind
  if (after < runs.size() && runs[after] == i) ++after;
  double back = 0, ahead = 0;
  for (std::size_t taken = 0; taken < most_own && (before > 0 || after < runs.size()); ++taken) {
    const bool goes_back = before > 0 && (after == runs.size() || back <= ahead);
    const std::size_t j = goes_back ? runs[--before] : runs[after++];
    double& distance = goes_back ? back : ahead;
    const Submitted& run = jobs_[j];
    double weight = std::pow(1 + distance / near_runs, near_power);
    if (run.gpus == job.gpus)
      distance += 1;
    else
      weight *= other_size;
    if (bursts_[j] == bursts_[i]) weight *= same_burst;
    if (run.pool != job.pool) weight *= other_pool;
    counts.add(run.ran_s, run.ended ? weight : open_weight * weight, run.ended);
  }
  return counts;
}

RunTimeBelief RunTimeModel::belief(std::size_t i) const {
  const Submitted& job = jobs_[i];
  Counts own = own_runs(i);
  own.ended = blurred(own.ended, job.start ? blur_running : blur_waiting);
  const Weights at_risk = own.at_risk();
  const Prior& site = prior(job.pool, size_class(job.gpus));
  RunTimeCurve::Chances chances{};
  for (std::size_t bin = 0; bin < bins; ++bin)
    chances[bin] = static_cast<float>((site.reach[bin] * site.chance[bin] + own.ended[bin]) /
                                      (site.reach[bin] + at_risk[bin]));
  return {.curve = std::make_shared<const RunTimeCurve>(chances), .known_s = {}};
}

std::vector<RunTimeBelief> RunTimeModel::beliefs(std::span<const std::size_t> which) const {
  // All that own_runs() and the prior look at of a job that has not started.
  using Alike =
      std::tuple<std::uint32_t, std::uint32_t, std::int32_t, std::uint32_t, std::ptrdiff_t>;
  std::map<Alike, RunTimeBelief> known;
  std::vector<RunTimeBelief> made;
  made.reserve(which.size());
  for (const std::size_t i : which) {
    const Submitted& job = jobs_[i];
    if (job.start) {
      made.push_back(belief(i));
      continue;
    }
    std::ptrdiff_t place = 0;
    if (const auto runs = started_.find(job.user); runs != started_.end())
      place = std::ranges::lower_bound(runs->second, i) - runs->second.begin();
    const auto [found, fresh] =
        known.try_emplace({job.user, job.pool, job.gpus, bursts_[i], place});
    if (fresh) found->second = belief(i);
    made.push_back(found->second);
  }
  return made;
}

std::shared_ptr<const RunTimeCurve> RunTimeModel::site() const {
  if (started_.empty()) return nullptr;
  RunTimeCurve::Chances chances{};
  for (std::size_t bin = 0; bin < bins; ++bin)
    chances[bin] = static_cast<float>(anywhere_.chance[bin]);
  return std::make_shared<const RunTimeCurve>(chances);
}

}  // namespace schedmate::eta
