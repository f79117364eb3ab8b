// SPDX-License-Identifier: Apache-2.0
#include "elastic/throughput.hpp"

#include <algorithm>
#include <cmath>

namespace schedmate::elastic {
namespace {

/// Where each parameter stands in a FitLoss; of a link the second parameter follows the first.
struct ParameterPlace {
  static constexpr std::size_t compute = 0;
  static constexpr std::size_t compute_per_sample = 1;
  static constexpr std::size_t between_nodes = 2;
  static constexpr std::size_t within_node = 4;
  static constexpr std::size_t overlap = 6;
  static constexpr std::size_t count = 7;
};

/// The link that a step waits for.
struct StepNetwork {
  double seconds = 0;
  double replicas = 0;                       ///< what the link's second parameter is multiplied by
  std::size_t link = ParameterPlace::count;  ///< place of its first parameter; none: a single GPU
};

StepNetwork network_of(const ThroughputModel& model, const StepShape& shape) {
  constexpr double nearly_none = 1e-8;  // seconds and replicas; so that the logarithm exists
  const double replicas = std::max(static_cast<double>(shape.replicas) - 2, nearly_none);
  if (shape.nodes > 1) {
    return {model.between_nodes_s + model.between_nodes_per_replica_s * replicas, replicas,
            ParameterPlace::between_nodes};
  }
  if (shape.replicas > 1) {
    return {model.within_node_s + model.within_node_per_replica_s * replicas, replicas,
            ParameterPlace::within_node};
  }
  return {nearly_none + nearly_none * replicas};
}

/// (T_acc^overlap + T_net^overlap)^(1/overlap), by logarithms, and how it goes with each.
struct OverlappedTime {
  double log_s = 0;
  double by_compute = 0, by_network = 0;  ///< share of each; their sum is 1
  double by_overlap = 0;
};

OverlappedTime overlapped(double log_compute, double log_network, double overlap) {
  const double apart = std::abs(log_network - log_compute);
  const double power = std::exp(-overlap * apart);  // of the shorter, where the longer has 1
  const double longer = std::log1p(power) / overlap;
  const double share = power / (1 + power);
  OverlappedTime result;
  result.log_s = std::max(log_compute, log_network) + longer;
  result.by_compute = log_compute < log_network ? share : 1 - share;
  result.by_network = 1 - result.by_compute;
  result.by_overlap = -(share * apart + longer) / overlap;
  return result;
}

double compute_seconds(const ThroughputModel& model, const StepShape& shape) {
  return model.compute_s + model.compute_per_sample_s * shape.atomic_batch;
}

using StepSlopes = std::array<double, ParameterPlace::count>;

/// The mean square of one kind of error, with the squares of its slopes (Gauss and Newton).
class StepErrors {
 public:
  void add(double error, const StepSlopes& slopes) {
    sum_ += error * error;
    for (std::size_t i = 0; i < ParameterPlace::count; ++i) {
      by_slope_[i] += error * slopes[i];
      for (std::size_t j = 0; j <= i; ++j) squares_[i][j] += slopes[i] * slopes[j];
    }
  }

  /// Adds the root of the mean. The parabola that touches the root here and is nowhere below it is
  /// the mean over twice the root: good steps even where the root has its kink, at no error.
  void add_root_to(FitLoss& loss, double count, double kink) const {
    constexpr double above_zero = 1e-300;  // so that no error has no slope
    const double root = std::sqrt(sum_ / count);
    const double weight = 1 / (count * std::max({root, kink, above_zero}));
    loss.value += root;
    for (std::size_t i = 0; i < ParameterPlace::count; ++i) {
      loss.gradient[i] += weight * by_slope_[i];
      for (std::size_t j = 0; j <= i; ++j) loss.curvature[i][j] += weight * squares_[i][j];
    }
  }

 private:
  double sum_ = 0;
  StepSlopes by_slope_{};
  std::array<StepSlopes, ParameterPlace::count> squares_{};  ///< i >= j
};

/// A penalty of weight x (second / first)^2 of a link: scaling is trusted until seen otherwise.
void add_link_penalty(FitLoss& loss, double once, double per_replica, std::size_t link) {
  constexpr double weight = 1e-2;
  const double ratio = per_replica / once;
  const double by_once = -ratio / once;
  const double by_replica = 1 / once;
  loss.value += weight * ratio * ratio;
  loss.gradient[link] += 2 * weight * ratio * by_once;
  loss.gradient[link + 1] += 2 * weight * ratio * by_replica;
  loss.curvature[link][link] += 2 * weight * by_once * by_once;
  loss.curvature[link + 1][link] += 2 * weight * by_once * by_replica;
  loss.curvature[link + 1][link + 1] += 2 * weight * by_replica * by_replica;
}

/// A penalty against overlap: the other parameters are easier to fit without.
void add_overlap_penalty(FitLoss& loss, double more_than_one) {
  constexpr double weight = 1e-3;
  loss.value += weight * more_than_one * more_than_one;
  loss.gradient[ParameterPlace::overlap] += 2 * weight * more_than_one;
  loss.curvature[ParameterPlace::overlap][ParameterPlace::overlap] += 2 * weight;
}

}  // namespace

ModelledTime step_time(const ThroughputModel& model, const StepShape& shape) {
  const double seconds = compute_seconds(model, shape);
  const double network = network_of(model, shape).seconds;
  const double shorter = std::min(seconds, network);
  const double longer = std::max(seconds, network);
  const double power = std::exp(model.overlap * std::log(shorter / longer));
  return {seconds, longer * std::exp(std::log1p(power) / model.overlap)};
}

double samples_per_second(const ThroughputModel& model, const StepShape& shape,
                          std::int32_t accumulation) {
  const ModelledTime time = step_time(model, shape);
  const double samples = static_cast<double>(shape.replicas) * shape.atomic_batch;
  return samples * (1.0 + accumulation) /
         (accumulation * time.accumulation_s + time.optimisation_s);
}

FitLoss fit_loss(const ThroughputModel& model, std::span<const ObservedStep> steps, double kink) {
  StepErrors compute_errors;
  StepErrors step_errors;
  for (const ObservedStep& step : steps) {
    const double seconds = compute_seconds(model, step.shape);
    const double log_seconds = std::log(seconds);
    const StepNetwork network = network_of(model, step.shape);
    const OverlappedTime whole = overlapped(log_seconds, std::log(network.seconds), model.overlap);

    StepSlopes slopes{};
    slopes[ParameterPlace::compute] = 1 / seconds;
    slopes[ParameterPlace::compute_per_sample] = step.shape.atomic_batch / seconds;
    compute_errors.add(log_seconds - std::log(step.compute_s), slopes);

    slopes[ParameterPlace::compute] *= whole.by_compute;
    slopes[ParameterPlace::compute_per_sample] *= whole.by_compute;
    slopes[ParameterPlace::overlap] = whole.by_overlap;
    if (network.link != ParameterPlace::count) {
      slopes[network.link] = whole.by_network / network.seconds;
      slopes[network.link + 1] = slopes[network.link] * network.replicas;
    }
    step_errors.add(whole.log_s - std::log(step.step_s), slopes);
  }
  FitLoss loss;
  compute_errors.add_root_to(loss, static_cast<double>(steps.size()), kink);
  step_errors.add_root_to(loss, static_cast<double>(steps.size()), kink);
  add_link_penalty(loss, model.between_nodes_s, model.between_nodes_per_replica_s,
                   ParameterPlace::between_nodes);
  add_link_penalty(loss, model.within_node_s, model.within_node_per_replica_s,
                   ParameterPlace::within_node);
  add_overlap_penalty(loss, model.overlap - 1);
  for (std::size_t i = 0; i < ParameterPlace::count; ++i) {
    for (std::size_t j = 0; j < i; ++j) loss.curvature[j][i] = loss.curvature[i][j];
  }
  return loss;
}

}  // namespace schedmate::elastic
