// SPDX-License-Identifier: Apache-2.0
#include "synth/draw.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace schedmate::synth {
namespace {

/// Along type and slot; GPUs rise in one slot and fall in the next, states likewise, so that
/// neighbours are alike.
std::vector<std::uint32_t> serpentine(const Joint& joint) {
  std::vector<std::uint32_t> order(joint.cells.size());
  std::iota(order.begin(), order.end(), 0U);
  const auto key = [&](std::uint32_t index) {
    const JointCell& cell = joint.cells[index];
    const auto there = [](bool back, std::uint64_t value) { return back ? 0xFFFF - value : value; };
    const std::uint64_t gpus = there(cell.slot % 2 == 1, cell.gpus);
    const std::uint64_t state = there((cell.slot + cell.gpus) % 2 == 1, cell.state);
    return std::uint64_t{cell.type} << 48U | std::uint64_t{cell.slot} << 32U | gpus << 16U | state;
  };
  std::ranges::sort(order, {}, key);
  return order;
}

}  // namespace

SynthJobs draw_jobs(const Joint& joint, std::int64_t count, Random random) {
  SynthJobs jobs;
  jobs.reserve(static_cast<std::size_t>(count));
  const double start = random.uniform();
  double reached = 0;
  const auto order = serpentine(joint);
  for (const std::uint32_t index : order) {
    const JointCell& cell = joint.cells[index];
    const RunSlot& slot = joint.slots[cell.type][cell.slot];
    reached += joint.weights[index] * static_cast<double>(count);
    const bool last = index == order.back();
    while (std::ssize(jobs) < count &&
           (last || static_cast<double>(jobs.size()) + start < reached)) {
      SynthJob job;
      job.type = cell.type;
      job.state = cell.state;
      job.gpus = static_cast<std::int32_t>(joint.gpus[cell.gpus]);
      job.point = slot.point;
      job.run_s = run_within(slot.low, slot.high, random);
      jobs.push_back(job);
    }
  }
  return jobs;
}

std::int64_t run_within(double low, double high, Random& random) {
  const double from = std::max(low, 1.0);
  const double drawn = from * std::pow(std::max(high / from, 1.0), 1 - random.uniform());
  return std::clamp(static_cast<std::int64_t>(std::ceil(drawn)), std::int64_t{1},
                    std::max<std::int64_t>(1, static_cast<std::int64_t>(high)));
}

}  // namespace schedmate::synth
