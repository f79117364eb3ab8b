// SPDX-License-Identifier: Apache-2.0
/// elastic_models [REPEATS]: microseconds of a fit from scratch and of one that goes on from the
/// fit without the last step, and of best_batch with and without single precision. Steps are those
/// of made-up jobs: up to 25 shapes on 1 to 4 nodes, within 5 % of a random model.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "base/random.hpp"
#include "elastic/goodput.hpp"

namespace {

using schedmate::Random;
using schedmate::elastic::BatchLimits;
using schedmate::elastic::ObservedStep;
using schedmate::elastic::StepShape;
using schedmate::elastic::ThroughputModel;

/// Between `low` and `high`, each power of ten as likely as the other.
double spread_evenly(Random& random, double low, double high) {
  return low * std::exp(random.uniform() * std::log(high / low));
}

ThroughputModel random_model(Random& random) {
  ThroughputModel model;
  model.compute_s = spread_evenly(random, 0.005, 0.5);
  model.compute_per_sample_s = spread_evenly(random, 1e-4, 0.05);
  model.within_node_s = spread_evenly(random, 0.001, 0.2);
  model.within_node_per_replica_s = spread_evenly(random, 1e-5, 0.01);
  model.between_nodes_s = 1.5 * model.within_node_s;
  model.between_nodes_per_replica_s = 1.5 * model.within_node_per_replica_s;
  model.overlap = 1 + 3 * random.uniform();
  return model;
}

std::vector<ObservedStep> random_steps(Random& random) {
  const ThroughputModel model = random_model(random);
  std::vector<ObservedStep> steps(static_cast<std::size_t>(random.between(2, 25)));
  for (ObservedStep& step : steps) {
    const auto spread = static_cast<std::int32_t>(random.below(6));
    const std::int32_t replicas = 1 << spread;
    step.shape = {std::max(replicas / 8, 1), replicas,
                  static_cast<std::int32_t>(random.between(8, 256))};
    const auto time = schedmate::elastic::step_time(model, step.shape);
    step.compute_s = time.accumulation_s * (1 + 0.05 * random.normal());
    step.step_s = std::max(time.optimisation_s * (1 + 0.05 * random.normal()), step.compute_s);
  }
  return steps;
}

/// Microseconds of each call.
class Timings {
 public:
  template <class Work>
  void measure(const Work& work) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    all_.push_back(
        std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin)
            .count());
  }
  void print(const char* what) {
    std::ranges::sort(all_);
    fmt::print("{:28} {:6} calls, us: median {:7.2f}, 99th {:7.2f}, most {:8.2f}\n", what,
               all_.size(), all_[all_.size() / 2], all_[all_.size() * 99 / 100], all_.back());
  }

 private:
  std::vector<double> all_;
};

void measure_fits(std::int64_t repeats) {
  Random random(1);
  Timings scratch;
  Timings further;
  for (std::int64_t i = 0; i < repeats; ++i) {
    const std::vector<ObservedStep> steps = random_steps(random);
    const ThroughputModel before =
        schedmate::elastic::fit(std::span(steps).first(steps.size() - 1));
    scratch.measure([&] { static_cast<void>(schedmate::elastic::fit(steps)); });
    further.measure([&] { static_cast<void>(schedmate::elastic::fit(steps, &before)); });
  }
  scratch.print("fit from scratch");
  further.print("fit after one step more");
}

void measure_batches(std::int64_t repeats, bool single_precision) {
  Random random(2);
  Timings timings;
  for (std::int64_t i = 0; i < repeats; ++i) {
    const ThroughputModel model = random_model(random);
    BatchLimits limits;
    limits.least = static_cast<std::int32_t>(random.between(4, 32));
    limits.most = limits.least * 32;
    limits.initial_batch = 128;
    limits.most_batch = 4096;
    limits.single_precision = single_precision;
    const StepShape spread{1, static_cast<std::int32_t>(random.between(1, 8)), 1};
    const schedmate::elastic::GradientNoise noise{random.uniform(), random.uniform() * 10};
    timings.measure(
        [&] { static_cast<void>(schedmate::elastic::best_batch(model, noise, limits, spread)); });
  }
  timings.print(single_precision ? "best_batch, single precision" : "best_batch");
}

}  // namespace

int main(int argc, char** argv) {
  const std::int64_t repeats = argc > 1 ? std::atoll(argv[1]) : 10'000;
  if (repeats < 1) return 2;
  measure_fits(repeats);
  measure_batches(repeats, false);
  measure_batches(repeats, true);
  return 0;
}
