// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Measured step times of one application on one GPU type: the simulated hardware.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace schedmate::elastic {

/// GPUs on each node.
using GpusByNode = std::vector<std::int32_t>;
/// The same nodes in the order that is smallest of all rotations.
[[nodiscard]] GpusByNode normalised(GpusByNode placement);
/// "44" or, where a node has more than nine GPUs, "16-16"; "16-" is one node. Nothing when it is
/// neither.
[[nodiscard]] std::optional<GpusByNode> parse_placement(std::string_view text);
[[nodiscard]] std::string text_of(const GpusByNode& placement);
[[nodiscard]] std::int32_t replicas_of(const GpusByNode& placement);

/// Seconds; `sync_s` is the part of it that is communication.
struct MeasuredTime {
  double step_s = 0, sync_s = 0;
};

/// By atomic batch, ascending and each once.
struct StepCurve {
  std::vector<double> batch;
  std::vector<MeasuredTime> samples;
  /// Linear between batches; nothing outside of what was measured.
  [[nodiscard]] std::optional<MeasuredTime> at(double atomic_batch) const;
};

/// One row of a table.
struct MeasuredStep {
  GpusByNode placement;  ///< empty: only `nodes` and `replicas` are known
  std::int32_t nodes = 0, replicas = 0;
  double batch = 0;
  MeasuredTime sample;
};

class StepTable {
 public:
  /// At least one row of which the placement is known.
  explicit StepTable(const std::vector<MeasuredStep>& rows);

  /// Of this placement; where it was not measured, of as many nodes and GPUs, or linear between
  /// fewer and more full nodes (the released code triangulates; within 8 % of that at 5 x 4 GPUs).
  [[nodiscard]] std::optional<MeasuredTime> at(const GpusByNode& placement, double batch) const;

  /// Smallest and largest atomic batch of any measured placement.
  [[nodiscard]] double least_batch() const { return least_; }
  [[nodiscard]] double most_batch() const { return most_; }
  /// The largest for which `at` has an answer, and least_batch() when it has none. (The released
  /// code takes the largest of any spread at least as wide, some of which it could not reach: see
  /// docs/formats/elastic.md.)
  [[nodiscard]] double most_batch(const GpusByNode& placement) const;
  /// The largest of any placement with so many GPUs; nothing when there is none.
  [[nodiscard]] std::optional<double> most_batch_of(std::int32_t replicas) const;
  /// Largest batch of one GPU / longest step of one GPU, samples per second.
  [[nodiscard]] double single_gpu_throughput() const;
  /// All that was measured with one GPU.
  [[nodiscard]] const StepCurve* single_gpu() const;
  [[nodiscard]] std::int32_t most_replicas() const;

 private:
  using Spread = std::pair<std::int32_t, std::int32_t>;  // nodes, replicas
  [[nodiscard]] std::optional<MeasuredTime> between(const Spread& spread, double batch) const;

  std::map<GpusByNode, StepCurve> placements_;
  std::map<Spread, StepCurve> spreads_;  // placements of the same spread are averaged
  std::map<std::int32_t, double> most_by_replicas_;
  double least_ = 0, most_ = 0;
};

}  // namespace schedmate::elastic
