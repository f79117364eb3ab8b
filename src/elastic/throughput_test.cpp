// SPDX-License-Identifier: Apache-2.0
#include "elastic/throughput.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "base/random.hpp"
#include "tests/support/effort.hpp"
#include "tests/support/near.hpp"

namespace schedmate::elastic {
namespace {

using testing::near;

using Parameters = std::array<double, 7>;

Parameters listed(const ThroughputModel& model) {
  return {model.compute_s,       model.compute_per_sample_s,
          model.between_nodes_s, model.between_nodes_per_replica_s,
          model.within_node_s,   model.within_node_per_replica_s,
          model.overlap};
}

ThroughputModel unlisted(const Parameters& list) {
  return {list[0], list[1], list[2], list[3], list[4], list[5], list[6]};
}

/// A tenth of a second per call, a hundredth per sample; links that are easy to add up.
ThroughputModel simple_model(double overlap) { return {0.1, 0.01, 0.4, 0.05, 0.2, 0.03, overlap}; }

std::vector<ObservedStep> steps_of(const ThroughputModel& model,
                                   const std::vector<StepShape>& shapes) {
  std::vector<ObservedStep> steps;
  for (const StepShape& shape : shapes) {
    const ModelledTime time = step_time(model, shape);
    steps.push_back({shape, time.optimisation_s, time.accumulation_s});
  }
  return steps;
}

/// 1 to 32 replicas, 8 on each node, 8 to 256 samples.
StepShape random_shape(Random& random) {
  const std::int32_t replicas = 1 << random.below(6);
  return {std::max(replicas / 8, 1), replicas, static_cast<std::int32_t>(random.between(8, 256))};
}

double any_power(Random& random, double low, double high) {
  return low * std::exp(random.uniform() * std::log(high / low));
}

ThroughputModel random_model(Random& random) {
  ThroughputModel model;
  model.compute_s = any_power(random, 0.005, 0.5);
  model.compute_per_sample_s = any_power(random, 1e-4, 0.05);
  model.within_node_s = any_power(random, 0.001, 0.2);
  model.within_node_per_replica_s = any_power(random, 1e-5, 0.01);
  model.between_nodes_s = 1.5 * model.within_node_s;
  model.between_nodes_per_replica_s = 1.5 * model.within_node_per_replica_s;
  model.overlap = 1 + 3 * random.uniform();
  return model;
}

/// Steps of a model, a little off.
std::vector<ObservedStep> random_steps(Random& random, double noise) {
  const ThroughputModel model = random_model(random);
  std::vector<StepShape> shapes(static_cast<std::size_t>(random.between(1, 25)));
  for (StepShape& shape : shapes) shape = random_shape(random);
  std::vector<ObservedStep> steps = steps_of(model, shapes);
  for (ObservedStep& step : steps) {
    step.compute_s *= std::exp(noise * random.normal());
    step.step_s = std::max(step.compute_s, step.step_s * std::exp(noise * random.normal()));
  }
  return steps;
}

double loss_of(const ThroughputModel& model, const std::vector<ObservedStep>& steps) {
  return fit_loss(model, steps).value;
}

double log_ratio(double one, double other) { return std::abs(std::log(one / other)); }

TEST_CASE("a step waits for the slowest link that the job has") {
  // T_acc = 0.1 + 0.01 x 10 = 0.2.
  const ThroughputModel model = simple_model(1);
  CHECK(near(step_time(model, {1, 1, 10}).accumulation_s, 0.2, 1e-12, 0));
  // Where there is no link, or none beyond two replicas, 1e-8 stands for it.
  CHECK(near(step_time(model, {1, 1, 10}).optimisation_s, 0.2 + 1e-8, 1e-12, 0));
  CHECK(near(step_time(model, {1, 2, 10}).optimisation_s, 0.2 + 0.2 + 1e-8 * 0.03, 1e-12, 0));
  CHECK(near(step_time(model, {1, 4, 10}).optimisation_s, 0.2 + 0.2 + 2 * 0.03, 1e-12, 0));
  CHECK(near(step_time(model, {2, 2, 10}).optimisation_s, 0.2 + 0.4 + 1e-8 * 0.05, 1e-12, 0));
  CHECK(near(step_time(model, {2, 8, 10}).optimisation_s, 0.2 + 0.4 + 6 * 0.05, 1e-12, 0));
}

TEST_CASE("overlap takes the sum of both times towards the longer one") {
  const StepShape shape{2, 8, 10};  // 0.2 and 0.7 s
  CHECK(near(step_time(simple_model(2), shape).optimisation_s, std::sqrt(0.2 * 0.2 + 0.7 * 0.7),
             1e-12, 0));
  CHECK(near(step_time(simple_model(10), shape).optimisation_s, 0.7, 1e-3, 0));
  const StepShape large{2, 8, 500};  // 5.1 and 0.7 s
  CHECK(near(step_time(simple_model(10), large).optimisation_s, 5.1, 1e-3, 0));
}

TEST_CASE("accumulation steps do not communicate") {
  // Three times 0.2 s and once 0.9 s for 8 x 10 x 4 samples.
  CHECK(near(samples_per_second(simple_model(1), {2, 8, 10}, 3), 320 / 1.5, 1e-12, 0));
  CHECK(near(samples_per_second(simple_model(1), {2, 8, 10}, 0), 80 / 0.9, 1e-12, 0));
}

TEST_CASE("the loss is the errors' root mean squares and the penalties") {
  const std::vector<StepShape> shapes{{1, 1, 8}, {1, 4, 16}, {2, 8, 32}};
  std::vector<ObservedStep> steps = steps_of(simple_model(3), shapes);
  // 1e-3 x (3 - 1)^2 + 1e-2 x ((0.05 / 0.4)^2 + (0.03 / 0.2)^2)
  const double penalties = 0.004 + 0.01 * (0.015625 + 0.0225);
  CHECK(near(loss_of(simple_model(3), steps), penalties, 1e-12, 0));
  steps[0].compute_s *= std::numbers::e;  // one error of 1 among three
  steps[1].step_s *= std::exp(2);         // one of 2
  CHECK(near(loss_of(simple_model(3), steps), penalties + std::sqrt(1.0 / 3) + std::sqrt(4.0 / 3),
             1e-12, 0));
}

TEST_CASE("the gradient of the loss is what finite differences give") {
  for (std::uint64_t seed = 0; seed < testing::cases(200); ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const std::vector<ObservedStep> steps = random_steps(random, 0.2);
    const Parameters at = listed(random_model(random));
    const FitLoss loss = fit_loss(unlisted(at), steps);
    for (std::size_t i = 0; i < at.size(); ++i) {
      CAPTURE(i);
      Parameters low = at;
      Parameters high = at;
      const double way = 1e-5 * at[i];
      low[i] -= way;
      high[i] += way;
      const double change = loss_of(unlisted(high), steps) - loss_of(unlisted(low), steps);
      // As the loss changes with the parameter's logarithm, which has one scale for all. Rounding
      // of the two losses is 5e-11 of that at most.
      const double slope = change / 2e-5;
      const double ours = at[i] * loss.gradient[i];
      CHECK((std::abs(slope) < 1e-9 ? near(ours - slope, 0, 0, 1e-10)
                                    : near(ours, slope, 1e-4, 1e-10)));
    }
  }
}

TEST_CASE("the curvature is symmetric and never negative") {
  for (std::uint64_t seed = 0; seed < testing::cases(100); ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const std::vector<ObservedStep> steps = random_steps(random, 0.2);
    const Parameters at = listed(random_model(random));
    const FitLoss loss = fit_loss(unlisted(at), steps);
    for (int direction = 0; direction < 20; ++direction) {
      Parameters way{};
      for (std::size_t i = 0; i < way.size(); ++i) way[i] = at[i] * random.normal();
      double bend = 0;
      for (std::size_t i = 0; i < way.size(); ++i) {
        for (std::size_t j = 0; j < way.size(); ++j) {
          CHECK(loss.curvature[i][j] == loss.curvature[j][i]);
          bend += way[i] * loss.curvature[i][j] * way[j];
        }
      }
      CHECK(bend >= 0);
    }
  }
}

ThroughputModel best_fit(std::span<const ObservedStep> steps,
                         const ThroughputModel* start = nullptr) {
  return fit(steps, start, FitSearch::best);
}

TEST_CASE("one batch size only: half of the time is taken to be without samples") {
  const auto steps = steps_of(simple_model(1), {{1, 1, 10}, {1, 2, 10}, {1, 4, 10}});
  const ThroughputModel model = best_fit(steps);
  CHECK(near(model.compute_s, 0.1, 1e-12, 0));  // half of 0.2 s, by chance the truth
  CHECK(near(step_time(model, {1, 1, 10}).accumulation_s, 0.2, 1e-3, 0));
  std::vector<ObservedStep> others = steps;
  others[0].compute_s = 0.26;
  CHECK(near(best_fit(others).compute_s, 0.11, 1e-12, 0));
}

TEST_CASE("a single GPU seen: scaling is taken to be perfect") {
  const ThroughputModel model = best_fit(steps_of(simple_model(1), {{1, 1, 10}, {1, 1, 20}}));
  CHECK(model.within_node_s == 1e-8);
  CHECK(model.within_node_per_replica_s == 1e-8);
  CHECK(near(model.between_nodes_s, 1.1e-8, 1e-12, 0));
  CHECK(near(model.between_nodes_per_replica_s, 1.1e-8, 1e-12, 0));
  CHECK(near(samples_per_second(model, {4, 16, 10}, 0),
             16 * samples_per_second(model, {1, 1, 10}, 0), 1e-5, 0));
}

TEST_CASE("two replicas on a node: nothing is known of more, and other nodes are a tenth slower") {
  const ThroughputModel model =
      best_fit(steps_of(simple_model(1), {{1, 1, 10}, {1, 2, 10}, {1, 2, 40}, {1, 1, 40}}));
  CHECK(near(model.within_node_s, 0.2, 0.02, 0));
  CHECK(model.within_node_per_replica_s == 1e-8);
  CHECK(near(model.between_nodes_s, 1.1 * model.within_node_s, 1e-12, 0));
  CHECK(near(model.between_nodes_per_replica_s, 1.1e-8, 1e-12, 0));
}

TEST_CASE("more replicas on a node: both parameters are a tenth larger between nodes") {
  const ThroughputModel model = best_fit(
      steps_of(simple_model(1), {{1, 1, 10}, {1, 2, 10}, {1, 4, 10}, {1, 8, 10}, {1, 8, 40}}));
  CHECK(near(model.within_node_per_replica_s, 0.03, 0.1, 0));
  CHECK(near(model.between_nodes_s, 1.1 * model.within_node_s, 1e-12, 0));
  CHECK(near(model.between_nodes_per_replica_s, 1.1 * model.within_node_per_replica_s, 1e-12, 0));
}

TEST_CASE("several nodes but no node with two replicas: nothing is said within a node") {
  const ThroughputModel model = best_fit(
      steps_of(simple_model(1), {{1, 1, 10}, {2, 2, 10}, {2, 8, 10}, {4, 16, 10}, {1, 1, 20}}));
  CHECK(model.within_node_s == 1e-8);
  CHECK(model.within_node_per_replica_s == 1e-8);
  CHECK(near(model.between_nodes_s, 0.4, 0.05, 0));
  CHECK(near(model.between_nodes_per_replica_s, 0.05, 0.05, 0));
}

TEST_CASE("two nodes with one replica each: nothing is said of more replicas") {
  const ThroughputModel model =
      best_fit(steps_of(simple_model(1), {{1, 1, 10}, {2, 2, 10}, {1, 1, 20}, {1, 2, 20}}));
  CHECK(model.between_nodes_per_replica_s == 1e-8);
  CHECK(model.within_node_per_replica_s == 1e-8);
  CHECK(near(model.between_nodes_s, 0.4, 0.02, 0));
  CHECK(near(model.within_node_s, 0.2, 0.02, 0));
}

TEST_CASE("nodes seen: they may also be faster than a node's own link") {
  ThroughputModel model = simple_model(1);
  model.between_nodes_s = 0.05;
  const ThroughputModel found =
      best_fit(steps_of(model, {{1, 1, 10}, {1, 2, 10}, {1, 8, 10}, {2, 16, 10}, {4, 32, 20}}));
  CHECK(near(step_time(found, {2, 16, 10}).optimisation_s,
             step_time(model, {2, 16, 10}).optimisation_s, 0.02, 0));
  CHECK(found.between_nodes_s < found.within_node_s);
}

TEST_CASE("known parameters come back from steps of many shapes") {
  std::vector<StepShape> shapes;
  for (const auto& [nodes, replicas] :
       {std::pair{1, 1}, {1, 2}, {1, 4}, {1, 8}, {2, 16}, {4, 32}, {8, 64}})
    for (const std::int32_t batch : {8, 32, 128}) shapes.push_back({nodes, replicas, batch});
  const ThroughputModel truth{0.05, 0.002, 0.1, 0.004, 0.06, 0.002, 1.5};
  const ThroughputModel found = best_fit(steps_of(truth, shapes));
  const Parameters expected = listed(truth);
  const Parameters parameters = listed(found);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CAPTURE(i);
    CHECK(near(parameters[i], expected[i], 0.05, 0));
  }
}

TEST_CASE("steps of random models: never worse than the model that made them") {
  for (std::uint64_t seed = 0; seed < testing::cases(300); ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const ThroughputModel truth = random_model(random);
    std::vector<StepShape> shapes(20);
    for (StepShape& shape : shapes) shape = random_shape(random);
    const std::vector<ObservedStep> steps = steps_of(truth, shapes);
    const ThroughputModel model = best_fit(steps);
    CHECK(loss_of(model, steps) <= loss_of(truth, steps) + 1e-3);
  }
}

/// A model near this one that fit() might have chosen instead: what it had fixed stays.
ThroughputModel chosen_near(const ThroughputModel& model, const std::vector<ObservedStep>& steps,
                            Random& random) {
  const auto seen = [&](const auto& test) { return std::ranges::any_of(steps, test); };
  const Parameters parameters = listed(model);
  Parameters near = parameters;
  const double way = any_power(random, 1e-4, 1);
  for (double& each : near) each = std::max(1e-8, each * std::exp(way * random.normal()));
  near[6] = std::clamp(near[6], 1.0, 10.0);
  const auto other_batch = [&](const ObservedStep& step) {
    return step.shape.atomic_batch != steps.front().shape.atomic_batch;
  };
  const auto nodes = [](const ObservedStep& step) { return step.shape.nodes > 1; };
  const auto node = [](const ObservedStep& step) {
    return step.shape.nodes == 1 && step.shape.replicas > 1;
  };
  const auto many = [](const ObservedStep& step) { return step.shape.replicas > 2; };
  if (!seen(other_batch)) near[0] = parameters[0];
  if (!seen(nodes)) near[2] = parameters[2];
  if (!seen(nodes) || !seen(many)) near[3] = parameters[3];
  if (!seen(node)) near[4] = parameters[4];
  if (!seen(node) || !seen(many)) near[5] = parameters[5];
  return unlisted(near);
}

TEST_CASE("random steps: the bounds hold, and nothing near the model is better") {
  for (std::uint64_t seed = 0; seed < testing::cases(200); ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const std::vector<ObservedStep> steps = random_steps(random, 0.1);
    const ThroughputModel model = best_fit(steps);
    const Parameters parameters = listed(model);
    for (std::size_t i = 0; i < 6; ++i) CHECK(parameters[i] >= 1e-8);
    CHECK(model.overlap >= 1);
    CHECK(model.overlap <= 10);
    const double loss = loss_of(model, steps);
    for (int trial = 0; trial < 100; ++trial) {
      CHECK(loss <= loss_of(chosen_near(model, steps, random), steps) + 1e-4);
    }
  }
}

TEST_CASE("step by step: going on from the fit before is never worse by 1e-3 than from scratch") {
  for (std::uint64_t seed = 0; seed < testing::cases(300); ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const std::vector<ObservedStep> all = random_steps(random, 0.05);
    ThroughputModel before = best_fit(std::span(all).first(1));
    for (std::size_t count = 2; count <= all.size(); ++count) {
      const std::vector<ObservedStep> steps(all.begin(),
                                            all.begin() + static_cast<std::ptrdiff_t>(count));
      before = best_fit(steps, &before);
      CHECK(loss_of(before, steps) <= loss_of(best_fit(steps), steps) + 1e-3);
    }
  }
}

TEST_CASE("a start that is far off, or no model at all, does no harm") {
  Random random(4);
  const std::vector<ObservedStep> steps = random_steps(random, 0.05);
  const double loss = loss_of(best_fit(steps), steps);
  for (const ThroughputModel& start :
       {ThroughputModel{1e3, 1e3, 1e3, 1e3, 1e3, 1e3, 10},
        ThroughputModel{1e-8, 1e-8, 1e-8, 1e-8, 1e-8, 1e-8, 1},
        ThroughputModel{0, 0, 0, 0, 0, 0, 0}, ThroughputModel{-1, -1, -1, -1, -1, -1, -1}}) {
    CHECK(loss_of(best_fit(steps, &start), steps) <= loss + 1e-3);
  }
  const double none = std::nan("");
  const ThroughputModel start{none, none, none, none, none, none, none};
  CHECK(loss_of(best_fit(steps, &start), steps) <= loss + 1e-3);
}

TEST_CASE("a single step is met exactly") {
  const auto steps = steps_of(simple_model(1), {{1, 2, 10}});
  const ThroughputModel model = best_fit(steps);
  CHECK(log_ratio(step_time(model, {1, 2, 10}).accumulation_s, 0.2) < 1e-4);
  CHECK(log_ratio(step_time(model, {1, 2, 10}).optimisation_s, 0.4) < 1e-4);
}

TEST_CASE("the released search: within the bounds, and the same whatever the start") {
  for (std::uint64_t seed = 0; seed < testing::cases(200); ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const std::vector<ObservedStep> steps = random_steps(random, 0.1);
    const ThroughputModel model = fit(steps);
    const ThroughputModel best = best_fit(steps);
    const Parameters parameters = listed(model);
    for (std::size_t i = 0; i < 6; ++i) CHECK(parameters[i] >= 1e-8);
    CHECK(model.overlap >= 1);
    CHECK(model.overlap <= 10);
    CHECK(fit(steps, &best) == model);
    CHECK(loss_of(model, steps) <= loss_of({}, steps));
  }
}

TEST_CASE("the released search fixes what the best one does") {
  const ThroughputModel one = fit(steps_of(simple_model(1), {{1, 1, 10}, {1, 1, 20}}));
  CHECK(one.within_node_s == 1e-8);
  CHECK(near(one.between_nodes_s, 1.1e-8, 1e-12, 0));
  const ThroughputModel two = fit(steps_of(simple_model(1), {{1, 1, 10}, {1, 2, 10}}));
  CHECK(near(two.compute_s, 0.1, 1e-12, 0));
  CHECK(two.within_node_per_replica_s == 1e-8);
  CHECK(near(two.between_nodes_s, 1.1 * two.within_node_s, 1e-12, 0));
}

}  // namespace
}  // namespace schedmate::elastic
