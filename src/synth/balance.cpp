// SPDX-License-Identifier: Apache-2.0
#include "synth/balance.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "synth/check.hpp"
#include "synth/draw.hpp"
#include "synth/tally.hpp"

namespace schedmate::synth {
namespace {

constexpr std::int64_t most_moves = 200'000;
constexpr std::int64_t most_moves_without_gain = 50'000;
constexpr double least_help = 1e-3;  // of the excess: less is as good as vain

/// Tries moves and keeps those that help.
class Balance {
 public:
  Balance(const ClusterFigures& cluster, SynthJobs& jobs, Random random)
      : cluster_(cluster), jobs_(jobs), random_(random), tally_(cluster, jobs) {
    std::vector<std::uint32_t> order(jobs.size());
    std::iota(order.begin(), order.end(), 0U);
    const auto weight = [&](std::uint32_t i) { return -jobs[i].gpus * jobs[i].run_s; };
    const auto heavy = std::min(order.size(), std::max<std::size_t>(200, order.size() / 50));
    std::ranges::partial_sort(order, order.begin() + static_cast<std::ptrdiff_t>(heavy), {},
                              weight);
    heavy_.assign(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(heavy));
    by_type_.resize(cluster.types.size());
    for (std::uint32_t i = 0; i < jobs.size(); ++i) by_type_[jobs[i].type].push_back(i);
    excess_ = excess();
  }

  void run() {
    for (std::int64_t move = 0;
         move < most_moves && moves_without_gain_ < most_moves_without_gain && excess_ > 0;
         ++move) {
      propose();
      if (random_.uniform() < 0.5) propose();  // two that help only together
      judge();
    }
  }

 private:
  std::size_t pick(std::size_t count) {
    return static_cast<std::size_t>(random_.below(static_cast<std::int64_t>(count)));
  }

  std::int64_t another_run(const SynthJob& job) {
    const Cdf& cdf = cluster_.types[job.type].duration_cdf;
    const double low = job.point == 0 ? 0 : cdf[job.point - 1U].x;
    return run_within(low, std::min(cdf[job.point].x, cluster_.max_run_s), random_);
  }

  /// How far the rows are outside `balanced`, squared.
  double excess() const {
    double total = 0;
    for (const auto& rows : {moment_rows(cluster_, tally_), gpu_rows(cluster_, tally_)}) {
      for (const CheckRow& row : rows) {
        const double outside = std::max(0.0, row.off - balanced);
        total += outside * outside;
      }
    }
    return total;
  }

  void propose() {
    const std::uint32_t a = heavy_[pick(heavy_.size())];
    const auto& alike = by_type_[jobs_[a].type];
    const bool both_heavy = random_.uniform() < 0.5;
    const std::uint32_t b = both_heavy ? heavy_[pick(heavy_.size())] : alike[pick(alike.size())];
    SynthJob changed_a = jobs_[a];
    SynthJob changed_b = jobs_[b];
    switch (random_.below(4)) {
      case 0:
        std::swap(changed_a.state, changed_b.state);
        break;
      case 1:
        std::swap(changed_a.gpus, changed_b.gpus);
        break;
      case 2:
        changed_a.run_s = another_run(changed_a);
        break;
      default:
        if (changed_a.type == changed_b.type) changed_b.gpus = changed_a.gpus;
    }
    change(a, changed_a);
    if (b != a) change(b, changed_b);
  }

  void change(std::uint32_t index, const SynthJob& job) {
    undo_.emplace_back(index, jobs_[index]);
    replace(index, job);
  }

  void replace(std::uint32_t index, const SynthJob& job) {
    tally_.add(cluster_, jobs_[index], -1);
    jobs_[index] = job;
    tally_.add(cluster_, job);
  }

  /// Keeps what was proposed when it helps.
  void judge() {
    const double now = excess();
    ++moves_without_gain_;
    if (now < excess_) {
      if (now < excess_ * (1 - least_help)) moves_without_gain_ = 0;
      excess_ = now;
    } else {
      for (; !undo_.empty(); undo_.pop_back()) replace(undo_.back().first, undo_.back().second);
    }
    undo_.clear();
  }

  const ClusterFigures& cluster_;
  SynthJobs& jobs_;
  Random random_;
  Tally tally_;
  std::vector<std::pair<std::uint32_t, SynthJob>> undo_;  // jobs before what is proposed
  std::vector<std::uint32_t> heavy_;
  std::vector<std::vector<std::uint32_t>> by_type_;
  double excess_ = 0;
  std::int64_t moves_without_gain_ = 0;  // moves since the last that helped
};

}  // namespace

void balance(const ClusterFigures& cluster, SynthJobs& jobs, Random random) {
  if (!jobs.empty()) Balance(cluster, jobs, random).run();
}

}  // namespace schedmate::synth
