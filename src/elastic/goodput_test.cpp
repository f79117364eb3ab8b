// SPDX-License-Identifier: Apache-2.0
#include "elastic/goodput.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "base/random.hpp"
#include "tests/support/effort.hpp"
#include "tests/support/near.hpp"

namespace schedmate::elastic {
namespace {

using testing::near;

/// 0.05 s and 0.4 ms a sample; almost nothing for communication.
const ThroughputModel fast_network{0.05, 4e-4, 2e-3, 1e-4, 1e-3, 5e-5, 1};

TEST_CASE("the gain grows with the batch up to what the noise allows") {
  // (3 + 1) / (3 / 2 + 1), and at most 4 with a batch without end.
  CHECK(near(gain({1, 3}, 200, 100), 1.6, 1e-12, 0));
  CHECK(near(gain({1, 3}, 100, 100), 1, 1e-12, 0));
  CHECK(near(gain({1, 3}, 1e9, 100), 4, 1e-5, 0));
  CHECK(near(gain({0, 3}, 700, 100), 7, 1e-12, 0));  // nothing but noise
  CHECK(near(gain({2, 0}, 700, 100), 1, 1e-12, 0));  // none
}

TEST_CASE("statistics that say nothing gain nothing") {
  CHECK(gain({0, 0}, 200, 100) == 1);
  CHECK(gain({-1, 1}, 200, 100) == 1);  // 1 / 2 - 1 < 0
  CHECK(gain({-1, 2}, 200, 100) == 1);  // exactly 0
}

/// The search of the released code, word for word and slowly: all sizes first, then the first of
/// the best.
struct SlowChoice {
  std::vector<BatchChoice> all;

  SlowChoice(const ThroughputModel& model, const GradientNoise& noise, const BatchLimits& limits,
             const StepShape& spread) {
    const double r = spread.replicas;
    const double start = std::max<double>(limits.initial_batch, limits.least * r);
    const double end = limits.most_batch;
    for (int i = 0; i < 50; ++i) {
      double total = start * std::pow(end / start, i / 49.0);
      if (i == 49 || !limits.tuned) total = end;
      const double local = total / r;
      double k = std::ceil(local / limits.most - 1e-8) - 1;
      if (spread.replicas == 1 && local > limits.initial_batch + 1e-8) k = std::max(k, 1.0);
      const double m = std::ceil(local / (k + 1) - 1e-8);
      add(model, noise, limits, {{spread.nodes, spread.replicas, static_cast<std::int32_t>(m)}, k});
    }
  }

  struct Tried {
    StepShape shape;
    double k = 0;
  };

  void add(const ThroughputModel& model, const GradientNoise& noise, const BatchLimits& limits,
           const Tried& tried) {
    const auto& [shape, k] = tried;
    BatchChoice choice{shape.atomic_batch, static_cast<std::int32_t>(k), 0};
    const bool possible = shape.atomic_batch >= limits.least && shape.atomic_batch <= limits.most;
    if (possible) {
      const double batch = static_cast<double>(shape.replicas) * shape.atomic_batch * (k + 1);
      const double scale = batch / limits.initial_batch;
      const double denominator = noise.variance / scale + noise.squared;
      const double gained = denominator > 0 ? (noise.variance + noise.squared) / denominator : 1;
      choice.goodput = samples_per_second(model, shape, choice.accumulation) * gained / scale;
    }
    all.push_back(choice);
  }

  [[nodiscard]] BatchChoice best() const {
    BatchChoice best = all.front();
    for (const BatchChoice& each : all)
      if (each.goodput > best.goodput) best = each;
    return best;
  }
};

BatchLimits random_limits(Random& random) {
  BatchLimits limits;
  limits.least = static_cast<std::int32_t>(random.between(1, 40));
  // A narrow range leaves no even parts for many sizes.
  limits.most =
      limits.least + static_cast<std::int32_t>(random.below(random.below(3) == 0 ? 3 : 500));
  limits.initial_batch = static_cast<std::int32_t>(random.between(1, 300));
  limits.most_batch = limits.initial_batch + static_cast<std::int32_t>(random.below(5000));
  limits.tuned = random.below(5) != 0;
  return limits;
}

TEST_CASE("the best batch is that of a slow search over all 50 sizes") {
  std::uint64_t accumulated = 0;
  std::uint64_t impossible = 0;
  std::uint64_t descending = 0;
  for (std::uint64_t seed = 0; seed < testing::cases(3000); ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const BatchLimits limits = random_limits(random);
    ThroughputModel model = fast_network;
    model.compute_s *= random.uniform();
    model.within_node_s *= 100 * random.uniform();
    model.between_nodes_s *= 100 * random.uniform();
    model.overlap += 3 * random.uniform();
    const GradientNoise noise{random.uniform(), std::exp(3 * random.normal())};
    const auto replicas = static_cast<std::int32_t>(random.between(1, 24));
    const StepShape spread{(replicas + 7) / 8, replicas, 1};
    const BatchChoice expected = SlowChoice(model, noise, limits, spread).best();
    const BatchChoice choice = best_batch(model, noise, limits, spread);
    CHECK(near(choice.goodput, expected.goodput, 1e-9, 0));
    CHECK(choice.atomic_batch == expected.atomic_batch);
    CHECK(choice.accumulation == expected.accumulation);
    accumulated += choice.accumulation > 0 ? 1 : 0;
    impossible += choice.goodput == 0 ? 1 : 0;
    descending += limits.least * replicas > limits.most_batch ? 1 : 0;
  }
  // The cases are worth something.
  CHECK(accumulated > testing::cases(100));
  CHECK(impossible > testing::cases(30));
  CHECK(descending > testing::cases(30));
}

TEST_CASE("one replica beyond the initial batch accumulates, so that the noise can be seen") {
  BatchLimits limits{16, 1024, 128, 4096};
  const GradientNoise noisy{1e-6, 1};  // the larger the better
  CHECK(best_batch(fast_network, noisy, limits, {1, 1, 1}).accumulation > 0);
  CHECK(best_batch(fast_network, noisy, limits, {1, 4, 1}).accumulation == 0);
  limits.most_batch = 128;
  CHECK(best_batch(fast_network, noisy, limits, {1, 1, 1}).accumulation == 0);
}

TEST_CASE("a batch beyond the memory is split evenly, rounded up") {
  const BatchLimits limits{1, 100, 128, 1000, false};
  const BatchChoice choice = best_batch(fast_network, {1, 1}, limits, {1, 3, 1});
  CHECK(choice.accumulation == 3);   // 333.3 / 100
  CHECK(choice.atomic_batch == 84);  // 333.3 / 4 = 83.3
  CHECK(choice.goodput > 0);
}

TEST_CASE("without noise the smallest batch is best, with nothing else the largest") {
  const BatchLimits limits{8, 4096, 128, 4096};
  const BatchChoice small = best_batch(fast_network, {1, 0}, limits, {1, 4, 1});
  CHECK(small.atomic_batch == 32);
  const BatchChoice large = best_batch(fast_network, {0, 1}, limits, {1, 4, 1});
  CHECK(large.atomic_batch == 1024);
  // Gain = scale: all samples are useful.
  CHECK(near(large.goodput, samples_per_second(fast_network, {1, 4, 1024}, 0), 1e-12, 0));
}

TEST_CASE("where no batch is possible the goodput is 0") {
  const GradientNoise noise{1, 1};
  // 16 replicas of at least 8, but at most 64 samples: 64 / 16 = 4. Only the first, 128, is
  // possible.
  const BatchLimits descending{8, 32, 16, 64};
  CHECK(best_batch(fast_network, noise, descending, {1, 16, 1}).atomic_batch == 8);
  BatchLimits limits = descending;
  limits.tuned = false;
  CHECK(best_batch(fast_network, noise, limits, {1, 16, 1}).goodput == 0);
  // Parts of at most 10 are at least 5 and a bit; no atomic batch is both 9 and more and 10 or
  // less.
  limits = {9, 10, 11, 16};
  CHECK(best_batch(fast_network, noise, limits, {1, 1, 1}).goodput == 0);
  limits = {20, 10, 11, 400};  // upside down
  CHECK(best_batch(fast_network, noise, limits, {1, 1, 1}).goodput == 0);
  limits = {1, 0, 1, 1};
  CHECK(best_batch(fast_network, noise, limits, {1, 1, 1}).goodput == 0);
  limits = {1, 1, 1, 0};
  CHECK(best_batch(fast_network, noise, limits, {1, 1, 1}).goodput == 0);
}

TEST_CASE(
    "in single precision the only total possible is also tried a sample larger for each GPU") {
  // 16 x 4 = 64 = the most; 10^log10(64) is 64.00001 there.
  BatchLimits limits{4, 16, 8, 64};
  const GradientNoise noisy{1e-6, 1};
  CHECK(best_batch(fast_network, noisy, limits, {4, 16, 1}).atomic_batch == 4);
  limits.single_precision = true;
  CHECK(best_batch(fast_network, noisy, limits, {4, 16, 1}).atomic_batch == 5);
}

TEST_CASE("single precision changes little elsewhere") {
  for (std::uint64_t seed = 0; seed < testing::cases(500); ++seed) {
    CAPTURE(seed);
    Random random(seed);
    BatchLimits limits = random_limits(random);
    const GradientNoise noise{random.uniform(), std::exp(3 * random.normal())};
    const auto replicas = static_cast<std::int32_t>(random.between(1, 24));
    const StepShape spread{1, replicas, 1};
    if (limits.least * replicas >= limits.initial_batch) continue;  // the start is a whole number
    const BatchChoice exact = best_batch(fast_network, noise, limits, spread);
    limits.single_precision = true;
    const BatchChoice rounded = best_batch(fast_network, noise, limits, spread);
    CHECK(near(rounded.goodput, exact.goodput, 0.02, 0));
  }
}

TEST_CASE("a batch that is not tuned is shared out, and split where it does not fit") {
  const BatchLimits limits{8, 100, 128, 4096};
  const BatchChoice one_part = fixed_batch(limits, 200, 4);
  CHECK(one_part.atomic_batch == 50);
  CHECK(one_part.accumulation == 0);
  const BatchChoice uneven = fixed_batch(limits, 1000, 3);  // 334 each, in 4 parts
  CHECK(uneven.atomic_batch == 84);
  CHECK(uneven.accumulation == 3);
  CHECK(uneven.goodput == 0);
  const BatchChoice alone = fixed_batch(limits, 130, 1);  // more than the initial batch
  CHECK(alone.atomic_batch == 65);
  CHECK(alone.accumulation == 1);
  BatchLimits roomy = limits;
  roomy.most = 1000;
  CHECK(fixed_batch(roomy, 130, 1).accumulation == 1);
  CHECK(fixed_batch(roomy, 128, 1).accumulation == 0);
}

}  // namespace
}  // namespace schedmate::elastic
