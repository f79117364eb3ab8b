// SPDX-License-Identifier: Apache-2.0

// The seven parameters within the bounds and from the start that the released code has.
// Its own search ends at the first step that gains less than 1e-5, often far above the least loss:
// 0.102 in the mean of its 200 golden fits, against 0.050 of the best search.

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.hpp"
#include "elastic/bounded_minimum.hpp"
#include "elastic/limited_bfgs.hpp"
#include "elastic/throughput.hpp"

namespace schedmate::elastic {
namespace {

constexpr double least_parameter = 1e-8;
constexpr std::size_t place_of_overlap = 6;  // after six parameters in seconds

SearchPoint parameters_of(const ThroughputModel& model) {
  return {model.compute_s,       model.compute_per_sample_s,
          model.between_nodes_s, model.between_nodes_per_replica_s,
          model.within_node_s,   model.within_node_per_replica_s,
          model.overlap};
}

ThroughputModel model_of(const SearchPoint& parameters) {
  return {parameters[0], parameters[1], parameters[2], parameters[3],
          parameters[4], parameters[5], parameters[6]};
}

/// The best search goes by the logarithms of seconds, which have the same scale for every job.
SearchPoint point_of(const ThroughputModel& model) {
  SearchPoint point = parameters_of(model);
  for (std::size_t i = 0; i < place_of_overlap; ++i) point[i] = std::log(point[i]);
  return point;
}

ThroughputModel model_at(const SearchPoint& point) {
  const auto seconds = [&](std::size_t place) {
    return std::max(std::exp(point[place]), least_parameter);
  };
  return {seconds(0),
          seconds(1),
          seconds(2),
          seconds(3),
          seconds(4),
          seconds(5),
          point[place_of_overlap]};
}

/// The loss by the variables of the best search.
QuadraticModel loss_at(const SearchPoint& point, std::span<const ObservedStep> steps) {
  const ThroughputModel model = model_at(point);
  const FitLoss loss = fit_loss(model, steps);
  SearchPoint scale = parameters_of(model);  // change of each parameter with its variable
  scale[place_of_overlap] = 1;
  QuadraticModel result{loss.value, loss.gradient, loss.curvature};
  for (std::size_t i = 0; i < most_variables; ++i) {
    result.gradient[i] *= scale[i];
    for (std::size_t j = 0; j < most_variables; ++j) result.curvature[i][j] *= scale[i] * scale[j];
  }
  return result;
}

/// What the steps show.
struct StepsSeen {
  bool several_batches = false;
  bool several_nodes = false;
  bool several_replicas_on_a_node = false;
  bool more_than_two_replicas = false;
  double mean_compute_s = 0;
};

StepsSeen seen_in(std::span<const ObservedStep> steps) {
  StepsSeen seen;
  for (const auto& [shape, step_s, compute_s] : steps) {
    seen.several_batches |= shape.atomic_batch != steps.front().shape.atomic_batch;
    seen.several_nodes |= shape.nodes > 1;
    seen.several_replicas_on_a_node |= shape.nodes == 1 && shape.replicas > 1;
    seen.more_than_two_replicas |= shape.replicas > 2;
    seen.mean_compute_s += compute_s / static_cast<double>(steps.size());
  }
  return seen;
}

struct ParameterBounds {
  ThroughputModel lower, upper;
};

/// `most` seconds; a parameter that the steps say nothing about is fixed.
ParameterBounds bounds_for(const StepsSeen& seen, double most) {
  constexpr double least = least_parameter;
  ThroughputModel lower{least, least, least, least, least, least, 1};
  ThroughputModel upper{most, most, most, most, most, most, 10};
  if (!seen.several_batches) lower.compute_s = upper.compute_s = seen.mean_compute_s / 2;
  if (!seen.several_nodes) {
    upper.between_nodes_s = upper.between_nodes_per_replica_s = least;
  }
  if (!seen.several_replicas_on_a_node) {
    upper.within_node_s = upper.within_node_per_replica_s = least;
  }
  if (!seen.more_than_two_replicas) {
    upper.between_nodes_per_replica_s = upper.within_node_per_replica_s = least;
  }
  return {lower, upper};
}

/// What the released simulator comes to.
ThroughputModel released_fit(std::span<const ObservedStep> steps, const StepsSeen& seen) {
  const auto [lower, upper] = bounds_for(seen, std::numeric_limits<double>::infinity());
  BoundedFunction loss{parameters_of(lower), parameters_of(upper), {}};
  loss.model_at = [&steps](const SearchPoint& at) {
    constexpr double exact = 0;  // the released code's search goes from side to side of the kink
    const FitLoss found = fit_loss(model_of(at), steps, exact);
    return QuadraticModel{found.value, found.gradient, {}};
  };
  return model_of(limited_bfgs_minimum(loss, parameters_of({})).at);
}

/// Where the search goes on after an earlier fit: off the ground, where it could hardly be seen
/// which way to go, and again for a link that was not seen then.
SearchPoint point_after(const ThroughputModel& earlier) {
  constexpr double ground = 100 * least_parameter;
  ThroughputModel start = earlier;
  const ThroughputModel fresh;
  const auto lift = [&](double& parameter) { parameter = std::max(parameter, ground); };
  lift(start.compute_s);
  lift(start.compute_per_sample_s);
  lift(start.between_nodes_per_replica_s);
  lift(start.within_node_per_replica_s);
  if (!(start.between_nodes_s > ground)) start.between_nodes_s = fresh.between_nodes_s;
  if (!(start.within_node_s > ground)) start.within_node_s = fresh.within_node_s;
  return point_of(start);
}

constexpr SearchLimits search_limits{
    .largest_step = 2,  // e^2 times as long or as short
    .decrease = 1e-7,
};

/// After an earlier fit a few steps suffice. A search that has to go further may end at another
/// minimum than one from the start, and is given up.
Minimum minimum_nearby(const BoundedFunction& loss, const ThroughputModel& earlier) {
  SearchLimits limits = search_limits;
  limits.evaluations = 6;
  return bounded_minimum(loss, point_after(earlier), limits);
}

ThroughputModel best_fit(std::span<const ObservedStep> steps, const StepsSeen& seen,
                         const ThroughputModel* start) {
  constexpr double most = 1e6;  // seconds: only so that no step of the search leaves all numbers
  const auto [lower, upper] = bounds_for(seen, most);
  BoundedFunction loss{point_of(lower), point_of(upper), {}};
  loss.model_at = [&steps](const SearchPoint& at) { return loss_at(at, steps); };
  const Minimum nearby = start == nullptr ? Minimum{} : minimum_nearby(loss, *start);
  const Minimum best = nearby.found ? nearby : bounded_minimum(loss, point_of({}), search_limits);
  return model_at(best.at);
}

/// Between nodes it is at least a tenth slower than within one, until seen.
void expect_between_nodes(ThroughputModel& model) {
  constexpr double slower = 1.1;
  model.between_nodes_s = std::max(model.between_nodes_s, slower * model.within_node_s);
  model.between_nodes_per_replica_s =
      std::max(model.between_nodes_per_replica_s, slower * model.within_node_per_replica_s);
}

}  // namespace

ThroughputModel fit(std::span<const ObservedStep> steps, const ThroughputModel* start,
                    FitSearch search) {
  SCHEDMATE_CHECK(!steps.empty(), "a fit needs a step");
  const StepsSeen seen = seen_in(steps);
  ThroughputModel model =
      search == FitSearch::best ? best_fit(steps, seen, start) : released_fit(steps, seen);
  if (!seen.several_nodes) expect_between_nodes(model);
  return model;
}

}  // namespace schedmate::elastic
