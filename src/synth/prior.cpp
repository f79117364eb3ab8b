// SPDX-License-Identifier: Apache-2.0
#include "synth/prior.hpp"

#include <algorithm>
#include <cmath>

namespace schedmate::synth {
namespace {

constexpr double outliers = 0.01;  // of each type, over all counts: the box plots leave them out
constexpr double fine_from_s = 512;
constexpr int fine_parts = 4;

bool power_of_two(double value) { return std::exp2(std::round(std::log2(value))) == value; }

/// Density over the natural logarithm of the run time; an even spread between two quantiles.
double density(const Published& published, std::size_t state, double run_s) {
  const auto& quantiles = published.behaviour.duration_quantiles[state];
  const auto& percent = published.behaviour.quantile_percent;
  double low = 0.5;
  double low_percent = 0;
  for (std::size_t i = 0; i <= quantiles.size(); ++i) {
    const bool last = i == quantiles.size();
    const double high = last ? std::max(published.cluster.max_run_s, 2 * low) : quantiles[i];
    const double high_percent = last ? 100 : percent[i];
    if (run_s <= high || last)
      return (high_percent - low_percent) / 100 / std::max(std::log(high / low), 1e-3);
    low = high;
    low_percent = high_percent;
  }
  return 0;
}

}  // namespace

double percent_at(const Cdf& cdf, double x) {
  const auto next = std::ranges::upper_bound(cdf, x, {}, &CdfPoint::x);
  return next == cdf.begin() ? 0 : std::prev(next)->percent;
}

std::vector<RunSlot> run_slots(const WorkType& type, double max_run_s) {
  std::vector<RunSlot> slots;
  double low = 0;
  for (std::size_t i = 0; i < type.duration_cdf.size() && low < max_run_s; ++i) {
    const double high = std::min(type.duration_cdf[i].x, max_run_s);
    const int parts = low >= fine_from_s ? fine_parts : 1;
    for (int part = 0; part < parts; ++part) {
      const auto edge = [&](int at) {
        if (at == 0) return low;
        return at == parts ? high : low * std::pow(high / low, static_cast<double>(at) / parts);
      };
      slots.push_back({edge(part), edge(part + 1), static_cast<std::uint16_t>(i)});
    }
    low = high;
  }
  return slots;
}

std::vector<double> slot_shares(const WorkType& type, const std::vector<RunSlot>& slots) {
  std::vector<double> shares;
  for (const RunSlot& slot : slots) {
    const auto parts = std::ranges::count(slots, slot.point, &RunSlot::point);
    const double before = slot.point == 0 ? 0 : type.duration_cdf[slot.point - 1U].percent;
    const bool last = slot.point == slots.back().point;
    const double upto = last ? 100 : type.duration_cdf[slot.point].percent;
    shares.push_back((upto - before) / 100 / static_cast<double>(parts));
  }
  return shares;
}

std::vector<double> gpu_prior(const ClusterFigures& cluster, const WorkType& type,
                              const std::vector<double>& gpus) {
  std::vector<double> shares;
  double inverses = 0;
  for (const double count : gpus) inverses += 1 / count;
  for (const double count : gpus) shares.push_back(outliers / count / inverses);
  const auto spread = [&](double total, auto takes) {
    const auto count = std::ranges::count_if(gpus, takes);
    for (std::size_t i = 0; i < gpus.size(); ++i)
      if (takes(gpus[i])) shares[i] += total / static_cast<double>(count);
  };
  if (type.gpus.empty()) {
    double before = 0;
    double before_percent = 0;
    for (const CdfPoint& point : cluster.gpu_cdf) {
      spread((point.percent - before_percent) / 100,
             [&](double count) { return count > before && count <= point.x; });
      before = point.x;
      before_percent = point.percent;
    }
  } else {
    for (std::size_t i = 0; i + 1 < type.gpus.size(); ++i) {
      spread(0.25, [&, low = type.gpus[i], high = type.gpus[i + 1]](double count) {
        return count == low || count == high ||
               (count > low && count < high && power_of_two(count));
      });
    }
  }
  return shares;
}

StateShares state_prior(const Published& published, double gpus, double run_s) {
  const ClusterFigures& cluster = published.cluster;
  StateShares shares = cluster.state_percent;
  for (const auto& row : cluster.state_by_gpus)
    if (gpus >= row[0]) std::copy_n(row.begin() + 1, 3, shares.begin());
  double total = 0;
  for (std::size_t i = 0; i < shares.size(); ++i)
    total += shares[i] *= density(published, i, run_s);
  for (double& each : shares) each /= total;
  return shares;
}

}  // namespace schedmate::synth
