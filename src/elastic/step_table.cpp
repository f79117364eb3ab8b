// SPDX-License-Identifier: Apache-2.0
#include "elastic/step_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/check.hpp"
#include "base/text.hpp"

namespace schedmate::elastic {
namespace {

constexpr std::int32_t widest = 16;  // nodes; beyond, times are those of 16

/// Nodes and replicas, of the widest part of the placement where it is wider.
std::pair<std::int32_t, std::int32_t> measurable_spread(const GpusByNode& placement) {
  const auto nodes = static_cast<std::int32_t>(placement.size());
  const std::int32_t replicas = replicas_of(placement);
  if (nodes <= widest) return {nodes, replicas};
  return {widest, replicas * widest / nodes};
}

MeasuredTime mix_samples(const MeasuredTime& a, const MeasuredTime& b, double share) {
  return {std::lerp(a.step_s, b.step_s, share), std::lerp(a.sync_s, b.sync_s, share)};
}

/// Rows of one curve, averaged where a batch comes twice.
using BatchSums = std::map<double, std::pair<MeasuredTime, double>>;

StepCurve curve_of(const BatchSums& sums) {
  StepCurve curve;
  for (const auto& [batch, sum] : sums) {
    curve.batch.push_back(batch);
    curve.samples.push_back({sum.first.step_s / sum.second, sum.first.sync_s / sum.second});
  }
  return curve;
}

void add_sample(BatchSums& sums, const MeasuredStep& row) {
  auto& [sum, count] = sums[row.batch];
  sum.step_s += row.sample.step_s;
  sum.sync_s += row.sample.sync_s;
  ++count;
}

}  // namespace

GpusByNode normalised(GpusByNode placement) {
  GpusByNode best = placement;
  for (std::size_t i = 1; i < placement.size(); ++i) {
    std::ranges::rotate(placement, placement.begin() + 1);
    best = std::min(best, placement);
  }
  return best;
}

std::optional<GpusByNode> parse_placement(std::string_view text) {
  GpusByNode placement;
  const bool parted = text.find('-') != std::string_view::npos;
  while (!text.empty()) {
    const std::size_t end = parted ? std::min(text.find('-'), text.size()) : 1;
    const auto gpus = parse_number<std::int32_t>(text.substr(0, end));
    if (!gpus || *gpus < 1 || *gpus > 64 || placement.size() == 4096) return std::nullopt;
    placement.push_back(*gpus);
    const bool last = end == text.size();
    text.remove_prefix(parted && !last ? end + 1 : end);
    // A hyphen at the end distinguishes one node of 16 from nodes of 1 and 6; more nodes need none.
    if (parted && !last && text.empty() && placement.size() > 1) return std::nullopt;
  }
  return placement.empty() ? std::nullopt : std::optional(placement);
}

std::string text_of(const GpusByNode& placement) {
  const bool parted = std::ranges::any_of(placement, [](std::int32_t gpus) { return gpus > 9; });
  return fmt::format("{}{}", fmt::join(placement, parted ? "-" : ""),
                     parted && placement.size() == 1 ? "-" : "");
}

std::int32_t replicas_of(const GpusByNode& placement) {
  return std::accumulate(placement.begin(), placement.end(), 0);
}

std::optional<MeasuredTime> StepCurve::at(double atomic_batch) const {
  if (batch.empty() || !(atomic_batch >= batch.front() && atomic_batch <= batch.back()))
    return std::nullopt;
  const auto above = std::ranges::lower_bound(batch, atomic_batch);
  const auto i = static_cast<std::size_t>(above - batch.begin());
  if (*above == atomic_batch) return samples[i];
  const double share = (atomic_batch - batch[i - 1]) / (batch[i] - batch[i - 1]);
  return mix_samples(samples[i - 1], samples[i], share);
}

StepTable::StepTable(const std::vector<MeasuredStep>& rows) {
  SCHEDMATE_CHECK(!rows.empty(), "a table has rows");
  std::map<GpusByNode, BatchSums> by_placement;
  std::map<Spread, BatchSums> by_spread;
  least_ = std::numeric_limits<double>::infinity();
  for (const MeasuredStep& row : rows) {
    add_sample(by_spread[{row.nodes, row.replicas}], row);
    if (row.placement.empty()) continue;
    add_sample(by_placement[normalised(row.placement)], row);
    least_ = std::min(least_, row.batch);
    most_ = std::max(most_, row.batch);
    double& most = most_by_replicas_[row.replicas];
    most = std::max(most, row.batch);
  }
  for (const auto& [placement, sums] : by_placement) placements_[placement] = curve_of(sums);
  for (const auto& [spread, sums] : by_spread) spreads_[spread] = curve_of(sums);
}

std::optional<MeasuredTime> StepTable::at(const GpusByNode& placement, double batch) const {
  const auto known = placements_.find(normalised(placement));
  if (known != placements_.end()) return known->second.at(batch);
  const Spread spread = measurable_spread(placement);
  const auto alike = spreads_.find(spread);
  if (alike != spreads_.end()) return alike->second.at(batch);
  return between(spread, batch);
}

/// Between the nearest spreads with as many GPUs on a node.
std::optional<MeasuredTime> StepTable::between(const Spread& spread, double batch) const {
  const auto [nodes, replicas] = spread;
  std::optional<std::pair<std::int32_t, MeasuredTime>> below;
  for (const auto& [other, curve] : spreads_) {
    if (other.second * nodes != replicas * other.first) continue;
    const auto sample = curve.at(batch);
    if (!sample) continue;
    if (other.first < nodes) below = {other.first, *sample};
    if (other.first <= nodes || !below) continue;
    const double share =
        static_cast<double>(nodes - below->first) / static_cast<double>(other.first - below->first);
    return mix_samples(below->second, *sample, share);
  }
  return std::nullopt;
}

double StepTable::most_batch(const GpusByNode& placement) const {
  const auto known = placements_.find(normalised(placement));
  if (known != placements_.end()) return known->second.batch.back();
  const Spread spread = measurable_spread(placement);
  const auto alike = spreads_.find(spread);
  if (alike != spreads_.end()) return alike->second.batch.back();
  const auto [nodes, replicas] = spread;
  double fewer = 0;
  double more = 0;
  for (const auto& [other, curve] : spreads_) {
    if (other.second * nodes != replicas * other.first) continue;
    double& most = other.first < nodes ? fewer : more;
    most = std::max(most, curve.batch.back());
  }
  return std::max(least_, std::min(fewer, more));
}

std::optional<double> StepTable::most_batch_of(std::int32_t replicas) const {
  const auto known = most_by_replicas_.find(replicas);
  return known == most_by_replicas_.end() ? std::nullopt : std::optional(known->second);
}

const StepCurve* StepTable::single_gpu() const {
  const auto found = placements_.find(GpusByNode{1});
  return found == placements_.end() ? nullptr : &found->second;
}

double StepTable::single_gpu_throughput() const {
  const StepCurve* const curve = single_gpu();
  if (curve == nullptr) return 0;
  double longest_s = 0;
  for (const MeasuredTime& sample : curve->samples) longest_s = std::max(longest_s, sample.step_s);
  return longest_s > 0 ? curve->batch.back() / longest_s : 0;
}

std::int32_t StepTable::most_replicas() const {
  std::int32_t most = 0;
  for (const auto& [spread, curve] : spreads_) most = std::max(most, spread.second);
  return most;
}

}  // namespace schedmate::elastic
