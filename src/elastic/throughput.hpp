// SPDX-License-Identifier: Apache-2.0
#pragma once

/// How long a data-parallel training step takes, as Sia and Pollux model it: seven
/// parameters for each job and GPU type, fitted to observed steps.

#include <array>
#include <cstdint>
#include <span>

namespace schedmate::elastic {

/// Seconds. T_acc = compute_s + compute_per_sample_s x m; T_net by nodes and replicas; a step is
/// (T_acc^overlap + T_net^overlap)^(1/overlap).
struct ThroughputModel {
  double compute_s = 0.1, compute_per_sample_s = 0.01;
  double between_nodes_s = 0.1, between_nodes_per_replica_s = 0.01;
  double within_node_s = 0.1, within_node_per_replica_s = 0.01;
  double overlap = 1.001;  ///< 1 = one after the other, 10 = at the same time
  bool operator==(const ThroughputModel&) const = default;
};

/// How a job is spread, and its batch on each GPU.
struct StepShape {
  std::int32_t nodes = 1;
  std::int32_t replicas = 1;
  std::int32_t atomic_batch = 1;  ///< samples a GPU takes at once
  auto operator<=>(const StepShape&) const = default;
};

struct ObservedStep {
  StepShape shape;
  double step_s = 0;     ///< whole step; above 0
  double compute_s = 0;  ///< of it without communication (step - sync); above 0
};

/// Seconds of one accumulation step (no communication) and of the step that ends with it.
struct ModelledTime {
  double accumulation_s = 0, optimisation_s = 0;
};
[[nodiscard]] ModelledTime step_time(const ThroughputModel& model, const StepShape& shape);

/// Samples per second with `accumulation` accumulation steps before each optimisation step.
[[nodiscard]] double samples_per_second(const ThroughputModel& model, const StepShape& shape,
                                        std::int32_t accumulation);

/// What fit() makes small: root mean square errors of the logarithms, and small penalties. Rows and
/// columns are the model's parameters in their order.
struct FitLoss {
  double value = 0;
  /// Exact, but for mean errors below `kink`, where the root has one: there it runs out to 0.
  std::array<double, 7> gradient{};
  std::array<std::array<double, 7>, 7> curvature{};  ///< from above, and never negative
};
[[nodiscard]] FitLoss fit_loss(const ThroughputModel& model, std::span<const ObservedStep> steps,
                               double kink = 1e-5);

/// Which search fit() goes by.
enum class FitSearch : std::uint8_t {
  released,  ///< that of Sia's released simulator, which ends early: to behave as it does
  best,      ///< to the least loss
};

/// The model of small loss; `steps` must not be empty. The best search finds it sooner with
/// `start`, the fit of fewer steps of the same job, where little has changed, and never worse by
/// 1e-3 than without; the released one always starts again.
[[nodiscard]] ThroughputModel fit(std::span<const ObservedStep> steps,
                                  const ThroughputModel* start = nullptr,
                                  FitSearch search = FitSearch::released);

}  // namespace schedmate::elastic
