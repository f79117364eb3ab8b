// SPDX-License-Identifier: Apache-2.0
#include "synth/joint.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "synth/prior.hpp"
#include "synth/tilt.hpp"

namespace schedmate::synth {
namespace {

// Standard errors of the published figures as shares of the whole: half a unit of the last digit
// printed, or more where the figures of one cluster are known to differ among themselves.
constexpr double of_cdf = 1e-4;
constexpr double of_doubtful_cdf = 1e-3;
constexpr double of_run_cdf = 3e-5;
constexpr double of_gpu_time_cdf = 2e-3;
constexpr double of_share = 5e-4;
constexpr double of_mean = 1e-3;  // relative
constexpr double of_quartile = 1e-4;
constexpr double quartile_gap = 0.01;

/// Builds the cells and their moments.
class Fit {
 public:
  explicit Fit(const Published& published) : published_(published), cluster_(published.cluster) {
    joint_.gpus = gpu_counts(cluster_);
    for (const WorkType& type : cluster_.types)
      joint_.slots.push_back(run_slots(type, cluster_.max_run_s));
    add_moments();
    for (std::size_t type = 0; type < cluster_.types.size(); ++type) add_cells(type);
  }

  Joint solve() {
    joint_.weights = tilt_.solve();
    constexpr int rounds = 4;
    for (int round = 0; round < rounds && correct_quartiles(); ++round)
      joint_.weights = tilt_.solve();
    return std::move(joint_);
  }

 private:
  /// A moment for each step of the CDF.
  std::vector<std::uint32_t> steps(const Cdf& cdf, double whole, double tolerance) {
    std::vector<std::uint32_t> ids;
    double before = 0;
    for (const CdfPoint& point : cdf) {
      ids.push_back(tilt_.moment({whole * (point.percent - before) / 100, tolerance}));
      before = point.percent;
    }
    return ids;
  }

  void add_moments() {
    const double total_jobs =
        std::accumulate(cluster_.types.begin(), cluster_.types.end(), 0.0,
                        [](double all, const WorkType& type) { return all + type.job_percent; });
    for (const WorkType& type : cluster_.types) {
      const double share = type.job_percent / total_jobs;
      shares_.push_back(share);
      Cdf cdf = type.duration_cdf;
      cdf.resize(joint_.slots[shares_.size() - 1].back().point + 1U);
      cdf.back().percent = 100;
      runs_.push_back(steps(cdf, share, of_run_cdf));
      if (type.gpu_time_percent > 0)
        times_.push_back(tilt_.moment({type.gpu_time_percent / 100, of_share}));
    }
    by_gpus_ = steps(cluster_.gpu_cdf, 1, of_cdf);
    for (std::size_t i = 0; i < by_gpus_.size(); ++i)
      if (cluster_.gpu_cdf[i].x > cluster_.gpu_cdf_holds_to)
        tilt_.loosen(by_gpus_[i], of_doubtful_cdf);
    by_gpu_time_ = steps(cluster_.gpu_time_cdf, 1, of_gpu_time_cdf);
    for (std::size_t i = 0; i < 3; ++i) {
      states_[i] =
          tilt_.moment({cluster_.state_percent[i] / sum_of(cluster_.state_percent), of_share});
      state_times_[i] = tilt_.moment(
          {cluster_.state_gpu_time_s[i] / sum_of(cluster_.state_gpu_time_s), of_share});
    }
    mean_run_ = tilt_.moment({1, of_mean});
    mean_gpus_ = tilt_.moment({1, of_mean});
  }

  static std::uint32_t step_of(const Cdf& cdf, const std::vector<std::uint32_t>& ids, double x) {
    const auto at = std::ranges::lower_bound(cdf, x, {}, &CdfPoint::x) - cdf.begin();
    return ids[std::min(static_cast<std::size_t>(at), ids.size() - 1)];
  }

  std::vector<TiltFeature> features(const JointCell& cell) const {
    const RunSlot& slot = joint_.slots[cell.type][cell.slot];
    const double gpus = joint_.gpus[cell.gpus];
    const double gpu_s = gpus * slot.mean() / cluster_.mean_gpu_s();
    std::vector<TiltFeature> result = {{runs_[cell.type][slot.point], 1},
                                       {step_of(cluster_.gpu_cdf, by_gpus_, gpus), 1},
                                       {step_of(cluster_.gpu_time_cdf, by_gpu_time_, gpus), gpu_s},
                                       {states_[cell.state], 1},
                                       {state_times_[cell.state], gpu_s},
                                       {mean_run_, slot.mean() / cluster_.mean_run_s},
                                       {mean_gpus_, gpus / cluster_.mean_gpus}};
    if (!times_.empty()) result.push_back({times_[cell.type], gpu_s});
    return result;
  }

  void add_cells(std::size_t type) {
    const auto& slots = joint_.slots[type];
    const auto runs = slot_shares(cluster_.types[type], slots);
    const auto counts = gpu_prior(cluster_, cluster_.types[type], joint_.gpus);
    for (std::size_t slot = 0; slot < slots.size(); ++slot) {
      for (std::size_t gpus = 0; gpus < counts.size(); ++gpus) {
        const StateShares states = state_prior(published_, joint_.gpus[gpus], slots[slot].mean());
        for (std::size_t state = 0; state < states.size(); ++state) {
          joint_.cells.push_back({static_cast<std::uint8_t>(type), static_cast<std::uint8_t>(state),
                                  static_cast<std::uint16_t>(gpus),
                                  static_cast<std::uint16_t>(slot)});
          tilt_.cell(shares_[type] * runs[slot] * counts[gpus] * states[state],
                     features(joint_.cells.back()));
        }
      }
    }
  }

  /// Fixes a side of each quartile that the last solution moved; false when all stand.
  bool correct_quartiles() {
    bool moved = false;
    for (std::size_t type = 0; type < cluster_.types.size(); ++type) {
      const auto& box = cluster_.types[type].gpus;
      for (std::size_t i = 1; i < 4 && !box.empty(); ++i) {
        const double quarter = 0.25 * static_cast<double>(i);
        const auto below = [&](double count) { return count < box[i]; };
        const auto upto = [&](double count) { return count <= box[i]; };
        if (share_of(type, below) > quarter - quartile_gap / 2)
          moved = hold(type, below, quarter - quartile_gap) || moved;
        if (share_of(type, upto) < quarter + quartile_gap / 2)
          moved = hold(type, upto, quarter + quartile_gap) || moved;
      }
    }
    return moved;
  }

  template <class Takes>
  double share_of(std::size_t type, Takes takes) const {
    double share = 0;
    for (std::size_t i = 0; i < joint_.cells.size(); ++i) {
      const JointCell& cell = joint_.cells[i];
      if (cell.type == type && takes(joint_.gpus[cell.gpus])) share += joint_.weights[i];
    }
    return share / shares_[type];
  }

  template <class Takes>
  bool hold(std::size_t type, Takes takes, double share) {
    const auto id = tilt_.moment({share * shares_[type], of_quartile});
    for (std::size_t i = 0; i < joint_.cells.size(); ++i) {
      const JointCell& cell = joint_.cells[i];
      if (cell.type == type && takes(joint_.gpus[cell.gpus])) tilt_.extend(i, {id, 1});
    }
    return true;
  }

  const Published& published_;
  const ClusterFigures& cluster_;
  Joint joint_;
  Tilt tilt_;
  std::vector<double> shares_;
  std::vector<std::vector<std::uint32_t>> runs_;
  std::vector<std::uint32_t> times_, by_gpus_, by_gpu_time_;
  std::array<std::uint32_t, 3> states_{}, state_times_{};
  std::uint32_t mean_run_ = 0, mean_gpus_ = 0;
};

}  // namespace

double RunSlot::mean() const {
  return low < 1 || high <= low ? high : (high - low) / std::log(high / low);
}

double Joint::mean_gpu_s(double most) const {
  double mean = 0;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const double count = std::min(gpus[cells[i].gpus], most);
    mean += weights[i] * count * slots[cells[i].type][cells[i].slot].mean();
  }
  return mean;
}

std::vector<double> gpu_counts(const ClusterFigures& cluster) {
  std::vector<double> edges;
  for (const Cdf* cdf : {&cluster.gpu_cdf, &cluster.gpu_time_cdf})
    for (const CdfPoint& point : *cdf) edges.push_back(std::floor(point.x));
  std::ranges::sort(edges);
  std::vector<double> counts = cluster.large_gpus;
  double low = 0;
  for (const double high : edges) {
    const auto flat = [&](const Cdf& cdf) {
      const auto end = std::ranges::lower_bound(cdf, high, {}, &CdfPoint::x);
      return end != cdf.end() && (end->percent - percent_at(cdf, low)) <= 0;
    };
    if (high > low && !flat(cluster.gpu_cdf) && !flat(cluster.gpu_time_cdf) &&
        std::ranges::none_of(counts, [&](double x) { return x > low && x <= high; })) {
      const double power = std::exp2(std::floor(std::log2(high)));
      const double eights = std::floor(high / 8) * 8;
      counts.push_back(power > low ? power : eights > low ? eights : high);
    }
    low = std::max(low, high);
  }
  std::ranges::sort(counts);
  return counts;
}

Joint fit_joint(const Published& published) { return Fit(published).solve(); }

}  // namespace schedmate::synth
