// SPDX-License-Identifier: Apache-2.0
/// What a round of an elastic policy asks for each job, configuration and batch takes no memory.
#include <doctest/doctest.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <vector>

#include "base/random.hpp"
#include "elastic/goodput.hpp"

namespace {

std::atomic<std::size_t> taken = 0;

}  // namespace

// NOLINTBEGIN(cppcoreguidelines-no-malloc): this is where memory comes from
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  ++taken;
  if (void* memory = std::malloc(bytes == 0 ? 1 : bytes)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
// NOLINTEND(cppcoreguidelines-no-malloc)

namespace schedmate {
namespace {

constexpr elastic::ThroughputModel slow_network{0.05, 4e-4, 2e-2, 1e-3, 4e-2, 2e-3, 1.5};

template <class Work>
std::size_t taken_by(const Work& work) {
  const std::size_t before = taken;
  work();
  return taken - before;
}

TEST_CASE("the count sees what is taken") {
  std::vector<int> values;
  CHECK(taken_by([&] { values.resize(1000); }) == 1);
}

TEST_CASE("goodput and step times take no memory") {
  double sum = 0;
  const auto ask = [&] {
    Random random(3);
    for (int i = 0; i < 1000; ++i) {
      const auto replicas = static_cast<std::int32_t>(1 + random.below(64));
      const auto batch = static_cast<std::int32_t>(1 + random.below(512));
      const elastic::BatchLimits limits{1, 512, batch, 64 * batch, i % 3 != 0, i % 2 == 0};
      const elastic::StepShape shape{1 + replicas / 8, replicas, batch};
      sum += elastic::best_batch(slow_network, {1, random.uniform()}, limits, shape).goodput;
      sum += elastic::step_time(slow_network, shape).optimisation_s;
      sum += elastic::fixed_batch(limits, 64.0 * batch, replicas).atomic_batch;
    }
  };
  CHECK(taken_by(ask) == 0);
  CHECK(sum > 0);
}

TEST_CASE("a fit takes memory for its rows, not for each step of the search") {
  std::vector<elastic::ObservedStep> steps;
  for (std::int32_t replicas = 1; replicas <= 32; replicas *= 2) {
    elastic::ObservedStep step;
    step.shape = {replicas <= 4 ? 1 : replicas / 4, replicas, 64};
    const auto time = elastic::step_time(slow_network, step.shape);
    step.compute_s = time.accumulation_s;
    step.step_s = 1.01 * time.optimisation_s;
    steps.push_back(step);
  }
  CHECK(taken_by([&] { (void)elastic::fit(steps); }) < 8);
}

}  // namespace
}  // namespace schedmate
