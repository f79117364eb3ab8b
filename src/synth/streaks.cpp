// SPDX-License-Identifier: Apache-2.0
#include "synth/streaks.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "synth/unused.hpp"

namespace schedmate::synth {
namespace {

constexpr double half_normal_median = 0.674489750196;  // median of |standard normal|

/// Jobs of one state by run time, taken one by one.
class Pool {
 public:
  Pool(const SynthJobs& jobs, std::vector<std::uint32_t> members)
      : jobs_(jobs), members_(std::move(members)), unused_(members_.size()) {
    std::ranges::sort(members_, {}, [&](std::uint32_t i) { return std::pair(jobs_[i].run_s, i); });
    unused_ = Unused(members_.size());
  }
  [[nodiscard]] std::size_t left() const { return unused_.left(); }
  /// Share of the pool that is still there.
  [[nodiscard]] double freshness() const {
    return members_.empty() ? 0
                            : static_cast<double>(left()) / static_cast<double>(members_.size());
  }
  std::uint32_t take_like(double run_s) {
    const auto at = std::ranges::lower_bound(
        members_, run_s, {}, [&](std::uint32_t i) { return static_cast<double>(jobs_[i].run_s); });
    return take_near(static_cast<std::size_t>(at - members_.begin()), run_s);
  }
  std::uint32_t take_any(Random& random) {
    const auto place = static_cast<std::size_t>(random.below(std::ssize(members_)));
    return take_near(place, static_cast<double>(jobs_[members_[place]].run_s));
  }

 private:
  std::uint32_t take_near(std::size_t place, double run_s) {
    const std::size_t above = unused_.from(place);
    const std::size_t below = unused_.before(place);  // the place after it
    const auto ratio = [&](std::size_t at) {
      return std::abs(std::log(static_cast<double>(jobs_[members_[at]].run_s) / run_s));
    };
    const bool up = below == 0 || (above < members_.size() && ratio(above) <= ratio(below - 1));
    const std::size_t chosen = up ? above : below - 1;
    unused_.take(chosen);
    return members_[chosen];
  }

  const SynthJobs& jobs_;
  std::vector<std::uint32_t> members_;
  Unused unused_;
};

/// Orders the jobs of one type and GPU count.
class Chain {
 public:
  Chain(const Behaviour& behaviour, const SynthJobs& jobs, std::array<Pool, 3> pools)
      : jobs_(jobs), pools_(std::move(pools)) {
    StateShares shares{};
    for (std::size_t i = 0; i < 3; ++i) shares[i] = static_cast<double>(pools_[i].left());
    next_ = next_states(behaviour.next_state, shares);
    // repeats x share of repeats within a factor 2 (about all) + (1 - repeats) x random = measured
    const double random_share = behaviour.random_within_factor_2 / 100;
    repeats_ = std::clamp(
        (behaviour.repeat_within_factor_2 / 100 - random_share) / (1 - random_share), 0.0, 1.0);
    // The median over all pairs is the 1/(2 repeats) quantile of the repeats alone; that of a half
    // normal is about linear there.
    spread_ = behaviour.repeat_log2_median / (half_normal_median / std::max(repeats_, 0.51));
  }

  void append(std::vector<std::uint32_t>& order, Random& random) {
    std::size_t state = 3;
    double run_s = 1;
    while (pools_[0].left() + pools_[1].left() + pools_[2].left() > 0) {
      state = next(state, random);
      Pool& pool = pools_[state];
      const bool repeat = started_ && random.uniform() < repeats_;
      const std::uint32_t job = repeat
                                    ? pool.take_like(run_s * std::exp2(spread_ * random.normal()))
                                    : pool.take_any(random);
      started_ = true;
      order.push_back(job);
      run_s = static_cast<double>(jobs_[job].run_s);
    }
  }

 private:
  std::size_t next(std::size_t state, Random& random) const {
    StateShares weights{};
    double total = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      const double wish = state < 3 ? next_[state][i] : 1;
      if (pools_[i].left() > 0) weights[i] = std::max(wish, 1e-9) * pools_[i].freshness();
      total += weights[i];
    }
    double drawn = random.uniform() * total;
    std::size_t chosen = 3;
    for (std::size_t i = 0; i < 3; ++i) {
      if (weights[i] <= 0) continue;
      chosen = i;
      if (drawn < weights[i]) break;
      drawn -= weights[i];
    }
    return chosen;
  }

  const SynthJobs& jobs_;
  std::array<Pool, 3> pools_;
  std::array<StateShares, 3> next_{};
  double repeats_ = 0;
  double spread_ = 0;
  bool started_ = false;
};

}  // namespace

std::array<StateShares, 3> next_states(const std::array<StateShares, 3>& measured,
                                       const StateShares& shares) {
  std::array<StateShares, 3> flow = measured;
  for (auto& row : flow)
    for (double& each : row) each = std::max(each, 1e-6);
  constexpr int rounds = 200;
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < 3; ++i) {
      const double row = flow[i][0] + flow[i][1] + flow[i][2];
      for (double& each : flow[i]) each *= row > 0 ? shares[i] / row : 0;
    }
    for (std::size_t j = 0; j < 3; ++j) {
      const double column = flow[0][j] + flow[1][j] + flow[2][j];
      for (auto& row : flow) row[j] *= column > 0 ? shares[j] / column : 0;
    }
  }
  for (auto& row : flow) {
    const double total = row[0] + row[1] + row[2];
    for (double& each : row) each = total > 0 ? each / total : 1.0 / 3;
  }
  return flow;
}

Streaks order_streaks(const Behaviour& behaviour, const SynthJobs& jobs, Random random) {
  std::map<std::pair<int, int>, std::array<std::vector<std::uint32_t>, 3>> shapes;
  for (std::uint32_t i = 0; i < jobs.size(); ++i)
    shapes[{jobs[i].type, jobs[i].gpus}][jobs[i].state].push_back(i);
  Streaks streaks;
  streaks.order.reserve(jobs.size());
  const double goes_on = behaviour.same_shape_within_hour / 100;
  for (auto& [shape, states] : shapes) {
    auto first = static_cast<std::uint32_t>(streaks.order.size());
    Chain(behaviour, jobs,
          {Pool(jobs, std::move(states[0])), Pool(jobs, std::move(states[1])),
           Pool(jobs, std::move(states[2]))})
        .append(streaks.order, random);
    const auto end = static_cast<std::uint32_t>(streaks.order.size());
    for (std::uint32_t i = first; i < end; ++i) {
      if (i + 1 < end && random.uniform() < goes_on) continue;
      streaks.bursts.push_back({first, i + 1 - first});
      first = i + 1;
    }
  }
  return streaks;
}

}  // namespace schedmate::synth
