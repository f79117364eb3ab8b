// SPDX-License-Identifier: Apache-2.0
/// allocation [ROUNDS]: how long the allocation of a round takes on invented rounds like Sia's, how
/// far from proven best it is, and what cbc takes for the last round where it is installed.
#include "elastic/allocation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

#include "base/random.hpp"
#include "bench/watch.hpp"
#include "tests/support/allocation_cbc.hpp"
#include "tests/support/scratch.hpp"

namespace {

using schedmate::Random;
using schedmate::bench::Watch;
using schedmate::elastic::Allocation;
using schedmate::elastic::AllocationOption;
using schedmate::elastic::AllocationProblem;
using schedmate::elastic::AllocationSolver;
using schedmate::elastic::no_option;

struct GpuKind {
  int gpus_per_node;
  int nodes;       ///< in a cluster of 64 GPUs
  int most_nodes;  ///< of a job
};
constexpr std::array<GpuKind, 3> kinds{{{4, 6, 16}, {8, 2, 2}, {8, 3, 3}}};

/// Speeds of one GPU of each kind, and the GPUs at which half of them is lost to talking.
struct Model {
  std::array<double, 3> speed;
  double knee;
};
constexpr std::array<Model, 5> models{{{{1, 6.9, 2.3}, 6},
                                       {{1, 10.8, 2.1}, 20},
                                       {{1, 2.5, 1.7}, 8},
                                       {{1, 4.8, 1.8}, 200},
                                       {{2.4, 4.8, 1}, 30}}};

/// Powers of two within a node, then whole nodes.
std::vector<AllocationOption> shapes_of(int gpus) {
  std::vector<AllocationOption> shapes;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const GpuKind& kind = kinds[i];
    const auto type = static_cast<std::uint16_t>(i);
    for (int count = 1; count <= kind.gpus_per_node; count *= 2) shapes.push_back({type, count, 0});
    const int most = std::min(kind.nodes * gpus / 64, kind.most_nodes);
    for (int nodes = 2; nodes <= most; ++nodes) {
      shapes.push_back({type, nodes * kind.gpus_per_node, 0});
    }
  }
  return shapes;
}

/// A job from its first round, where it is known for one GPU only, to its end.
struct Job {
  Model model;
  std::int32_t most = 1;  ///< GPUs; doubles as it learns
  int age = 0;            ///< rounds
  int restarts = 0;
  std::int32_t held = no_option;
  bool restarting = false;
};

class Rounds {
 public:
  Rounds(int gpus, std::size_t jobs, std::uint64_t seed)
      : shapes_(shapes_of(gpus)), random_(seed), jobs_(jobs), options_(jobs) {
    for (const GpuKind& kind : kinds) {
      problem_.capacity.push_back(std::int64_t{kind.nodes} * kind.gpus_per_node * gpus / 64);
    }
    problem_.without = 1.1;
    for (Job& job : jobs_) {
      job = submitted();
      job.age = static_cast<int>(random_.below(200));
      job.restarts = static_cast<int>(random_.below(6));
      job.most = job.age == 0 ? 1 : 1 << random_.between(1, 6);
    }
  }

  const AllocationProblem& next() {
    problem_.jobs.clear();
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
      cost(jobs_[i], options_[i]);
      const std::int32_t held = jobs_[i].held;
      problem_.jobs.push_back({options_[i], held, jobs_[i].restarting ? held : no_option});
    }
    return problem_;
  }

  /// A minute passes under `choice`.
  void pass(const std::vector<std::int32_t>& choice) {
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
      Job& job = jobs_[i];
      job.restarting = false;
      if (choice[i] != no_option) {
        const bool moved = job.held != choice[i];
        job.restarts += moved && job.age > 0 ? 1 : 0;
        job.restarting = moved && random_.uniform() < 0.2;
        const auto shape = shapes_[static_cast<std::size_t>(choice[i])];
        job.most = std::clamp(2 * shape.gpus, job.most, 64);
      }
      job.held = choice[i];
      ++job.age;
      if (random_.uniform() < 0.03) job = submitted();
    }
  }

 private:
  Job submitted() {
    Job job{.model = models[static_cast<std::size_t>(random_.below(models.size()))]};
    job.model.knee *= std::exp(0.3 * random_.normal());
    for (double& speed : job.model.speed) speed *= std::exp(0.1 * random_.normal());
    return job;
  }

  /// Goodput to the power -0.5, in hundredths, against the least of it.
  void cost(const Job& job, std::vector<AllocationOption>& options) const {
    options = shapes_;
    const auto& speed = job.model.speed;
    const double least = job.age == 0 ? 1 : *std::ranges::min_element(speed);
    const double factor =
        job.age == 0 ? 1 : std::max(job.age - 0.5 * job.restarts, 0.0) / (job.age + 0.5);
    for (std::size_t i = 0; i < options.size(); ++i) {
      AllocationOption& option = options[i];
      const double gpus = option.gpus;
      const double apart = option.gpus > kinds[option.type].gpus_per_node ? 1.5 : 1;
      double goodput = job.age == 0 ? 1 : speed[option.type] * gpus;
      goodput /= 1 + (gpus - 1) / job.model.knee * apart;
      if (static_cast<std::int32_t>(i) != job.held && job.held != no_option) goodput *= factor;
      if (option.gpus > job.most) goodput = 1e-4;
      option.value = std::min(3000.0, std::round(100 * std::sqrt(least / goodput)) / 100);
    }
  }

  std::vector<AllocationOption> shapes_;
  Random random_;
  std::vector<Job> jobs_;
  std::vector<std::vector<AllocationOption>> options_;
  AllocationProblem problem_;
};

struct Case {
  int gpus;
  std::size_t jobs;
};
constexpr Case cases[] = {{64, 10},    {64, 20},    {64, 53},     {256, 51},    {256, 87},
                          {1024, 100}, {1024, 193}, {1024, 500},  {2048, 100},  {2048, 250},
                          {2048, 359}, {2048, 500}, {2048, 1000}, {2048, 2000}, {2048, 4000}};

std::string cbc_column(const AllocationProblem& problem, const Allocation& answer) {
  if (!schedmate::testing::has_cbc()) return "-";
  const schedmate::testing::Scratch scratch;
  const Watch watch;
  const auto best = schedmate::testing::cbc_objective(problem, scratch.path("round"));
  if (!best) return fmt::format("{:.0f} ms, not proven", watch.wall_ms());
  return fmt::format("{:.0f} ms, {:+.2f}", watch.wall_ms(), *best - answer.objective);
}

/// Median milliseconds.
double measure_case(const Case& of, int rounds) {
  std::vector<double> took;
  std::vector<std::int64_t> nodes;
  double first_ms = 0;
  double gap = 0;
  int proven = 0;
  Rounds made(of.gpus, of.jobs, 1);
  AllocationSolver solver({.step = 0.01});
  Allocation answer;
  for (int round = 0; round < rounds; ++round) {
    if (round > 0) made.pass(answer.choice);
    const AllocationProblem& problem = made.next();
    const Watch watch;
    answer = solver.solve(problem);
    took.push_back(watch.cpu_ms());
    if (round == 0) first_ms = took.back();
    nodes.push_back(answer.nodes);
    gap = std::max(gap, answer.gap());
    proven += answer.gap() == 0 ? 1 : 0;
  }
  std::ranges::sort(took);
  std::ranges::sort(nodes);
  const std::size_t middle = took.size() / 2;
  fmt::print("{:>5} {:>5} {:>9.3f} {:>9.3f} {:>9.3f} {:>8.4f} {:>7} {:>8} {:>8}  {}\n", of.gpus,
             of.jobs, took[middle], took.back(), first_ms, 100 * gap,
             fmt::format("{}/{}", proven, rounds), nodes[middle], nodes.back(),
             cbc_column(made.next(), answer));
  std::fflush(stdout);
  return took[middle];
}

}  // namespace

int main(int count, char** words) {
  const int rounds = count > 1 ? std::max(1, std::atoi(words[1])) : 100;
  fmt::print("{} rounds each; milliseconds; cbc: last round, its objective less ours\n", rounds);
  fmt::print("{:>5} {:>5} {:>9} {:>9} {:>9} {:>8} {:>7} {:>8} {:>8}  {}\n", "GPUs", "jobs",
             "median", "max", "first", "gap %", "proven", "nodes", "max", "cbc");
  double few_ms = 0;
  double many_ms = 0;
  for (const Case& of : cases) {
    const double median_ms = measure_case(of, rounds);
    if (of.gpus == 2048 && of.jobs == 100) few_ms = median_ms;
    if (of.gpus == 2048 && of.jobs == 4000) many_ms = median_ms;
  }
  fmt::print("4,000 jobs on 2,048 GPUs take {:.1f} times as long as 100; n log n would be {:.1f}\n",
             many_ms / few_ms, 40 * std::log(4000) / std::log(100));
}
