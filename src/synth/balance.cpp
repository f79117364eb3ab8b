// SPDX-License-Identifier: Apache-2.0
#include "synth/balance.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "synth/check.hpp"
#include "synth/draw.hpp"
#include "synth/tally.hpp"

namespace schedmate {
namespace {

constexpr std::int64_t most_moves = 600'000;
constexpr std::int64_t most_vain_moves = 100'000;

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
    for (std::int64_t move = 0; move < most_moves && vain_ < most_vain_moves && excess_ > 0;
         ++move) {
      ++vain_;
      const std::uint32_t a = heavy_[pick(heavy_.size())];
      const auto& alike = by_type_[jobs_[a].type];
      const bool both_heavy = random_.uniform() < 0.5;
      const std::uint32_t b = both_heavy ? heavy_[pick(heavy_.size())] : alike[pick(alike.size())];
      switch (random_.below(4)) {
        case 0:
          attempt(a, b, [](SynthJob& x, SynthJob& y) { std::swap(x.state, y.state); });
          break;
        case 1:
          attempt(a, b, [](SynthJob& x, SynthJob& y) { std::swap(x.gpus, y.gpus); });
          break;
        case 2:
          attempt(a, a, [&](SynthJob& x, SynthJob&) { x.run_s = another_run(x); });
          break;
        default:
          if (jobs_[a].type == jobs_[b].type)
            attempt(b, a, [](SynthJob& x, SynthJob& y) { x.gpus = y.gpus; });
      }
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

  template <class Change>
  void attempt(std::uint32_t a, std::uint32_t b, Change change) {
    const SynthJob before_a = jobs_[a];
    const SynthJob before_b = jobs_[b];
    replace(a, b, -1);
    change(jobs_[a], jobs_[b]);
    replace(a, b, 1);
    const double now = excess();
    if (now < excess_) {
      excess_ = now;
      vain_ = 0;
      return;
    }
    replace(a, b, -1);
    jobs_[a] = before_a;
    jobs_[b] = before_b;
    replace(a, b, 1);
  }

  void replace(std::uint32_t a, std::uint32_t b, double sign) {
    tally_.add(cluster_, jobs_[a], sign);
    if (b != a) tally_.add(cluster_, jobs_[b], sign);
  }

  const ClusterFigures& cluster_;
  SynthJobs& jobs_;
  Random random_;
  Tally tally_;
  std::vector<std::uint32_t> heavy_;
  std::vector<std::vector<std::uint32_t>> by_type_;
  double excess_ = 0;
  std::int64_t vain_ = 0;  // moves since the last that helped
};

}  // namespace

void balance(const ClusterFigures& cluster, SynthJobs& jobs, Random random) {
  if (!jobs.empty()) Balance(cluster, jobs, random).run();
}

}  // namespace schedmate
