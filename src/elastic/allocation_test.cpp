// SPDX-License-Identifier: Apache-2.0
#include "elastic/allocation.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <tuple>

#include "base/random.hpp"
#include "tests/support/effort.hpp"
#include "tests/support/near.hpp"

namespace schedmate::elastic {
namespace {

using testing::near;

using Options = std::vector<AllocationOption>;

/// A problem that owns its options.
struct MadeAllocation {
  std::vector<Options> options;
  AllocationProblem problem;

  MadeAllocation() = default;
  MadeAllocation(std::vector<std::int64_t> capacity, std::vector<Options> jobs, double without)
      : options(std::move(jobs)) {
    problem.capacity = std::move(capacity);
    problem.without = without;
    problem.jobs.resize(options.size());
    point();
  }
  MadeAllocation(const MadeAllocation&) = delete;
  MadeAllocation& operator=(const MadeAllocation&) = delete;
  void point() {
    for (std::size_t i = 0; i < options.size(); ++i) problem.jobs[i].options = options[i];
  }
};

/// What an allocation is judged by, the larger the better: gain over nothing, held options kept,
/// GPUs saved.
using Standing = std::tuple<double, int, std::int64_t>;

std::vector<std::int64_t> used_gpus(const AllocationProblem& problem,
                                    const std::vector<std::int32_t>& choice) {
  std::vector<std::int64_t> used(problem.capacity.size());
  for (std::size_t i = 0; i < choice.size(); ++i) {
    if (choice[i] == no_option) continue;
    const AllocationOption& option = problem.jobs[i].options[static_cast<std::size_t>(choice[i])];
    used[option.type] += option.gpus;
  }
  return used;
}

Standing standing_of(const AllocationProblem& problem, const std::vector<std::int32_t>& choice) {
  Standing standing{0, 0, 0};
  for (std::size_t i = 0; i < choice.size(); ++i) {
    if (choice[i] == no_option) continue;
    const AllocationOption& option = problem.jobs[i].options[static_cast<std::size_t>(choice[i])];
    std::get<0>(standing) += (problem.maximise ? 1 : -1) * (option.value - problem.without);
    std::get<1>(standing) += choice[i] == problem.jobs[i].held ? 1 : 0;
    std::get<2>(standing) -= option.gpus;
  }
  return standing;
}

/// Exact, by trying every option of every job for every amount of GPUs left of each type.
class AllocationOracle {
 public:
  explicit AllocationOracle(const AllocationProblem& problem) : problem_(problem) {
    std::size_t states = 1;
    for (const std::int64_t gpus : problem.capacity) {
      stride_.push_back(states);
      states *= static_cast<std::size_t>(gpus) + 1;
    }
    best_.assign(states, Standing{0, 0, 0});
    for (const AllocationJob& job : problem.jobs) add(job);
  }
  /// Nothing when the pinned jobs do not fit.
  std::optional<Standing> best() const { return best_.back(); }

 private:
  /// best_[s] is the best of the jobs so far with s GPUs; downwards, so that each job counts once.
  void add(const AllocationJob& job) {
    for (std::size_t state = best_.size(); state-- > 0;) {
      std::optional<Standing> best = job.pinned == no_option ? best_[state] : std::nullopt;
      for (std::size_t i = 0; i < job.options.size(); ++i) {
        const auto index = static_cast<std::int32_t>(i);
        if (job.pinned != no_option && job.pinned != index) continue;
        const AllocationOption& option = job.options[i];
        const double gain = (problem_.maximise ? 1 : -1) * (option.value - problem_.without);
        if (job.pinned == no_option && gain <= 0) continue;
        const auto gpus = static_cast<std::size_t>(option.gpus);
        const std::size_t stride = stride_[option.type];
        const auto there = static_cast<std::size_t>(problem_.capacity[option.type]) + 1;
        if (state / stride % there < gpus || !best_[state - gpus * stride]) continue;
        auto [sum, held, saved] = *best_[state - gpus * stride];
        sum = std::round((sum + gain) * 1e9) / 1e9;  // so that equal sums are equal
        held += index == job.held ? 1 : 0;
        saved -= option.gpus;
        if (!best || Standing{sum, held, saved} > *best) best = Standing{sum, held, saved};
      }
      best_[state] = best;
    }
  }

  const AllocationProblem& problem_;
  std::vector<std::size_t> stride_;
  std::vector<std::optional<Standing>> best_;
};

/// `grain`: values are multiples of it; 0: any values.
void fill_at_random(MadeAllocation& made, double grain, Random& random) {
  AllocationProblem& problem = made.problem;
  const auto types = static_cast<std::size_t>(random.between(1, 4));
  const std::int64_t most = std::vector<std::int64_t>{60, 16, 8, 5}[types - 1];
  for (std::size_t i = 0; i < types; ++i) problem.capacity.push_back(random.between(0, most));
  problem.maximise = random.uniform() < 0.5;
  const auto value = [&] {
    const double drawn = 2 * random.uniform() - (problem.maximise ? 0.5 : 0.8);
    return grain > 0 ? std::round(drawn / grain) * grain : drawn;
  };
  problem.without = random.uniform() < 0.5 ? 0 : value();
  const auto jobs = static_cast<std::size_t>(random.between(0, 12));
  made.options.resize(jobs);
  problem.jobs.resize(jobs);
  for (std::size_t i = 0; i < jobs; ++i) {
    const std::int64_t count = random.between(0, 7);
    for (std::int64_t k = 0; k < count; ++k) {
      const auto type = static_cast<std::uint16_t>(random.below(static_cast<std::int64_t>(types)));
      made.options[i].push_back(
          {type, static_cast<std::int32_t>(random.between(1, most)), value()});
    }
    if (random.uniform() < 0.15 && i > 0) made.options[i] = made.options[i - 1];
    const auto size = static_cast<std::int64_t>(made.options[i].size());
    if (size > 0 && random.uniform() < 0.6) {
      problem.jobs[i].held = static_cast<std::int32_t>(random.below(size));
    }
    if (size > 0 && random.uniform() < 0.08) {
      problem.jobs[i].pinned = static_cast<std::int32_t>(random.below(size));
    }
  }
  made.point();
}

/// What must hold of every answer.
void check_answer(const AllocationProblem& problem, const Allocation& answer) {
  REQUIRE(answer.choice.size() == problem.jobs.size());
  const auto used = used_gpus(problem, answer.choice);
  for (std::size_t i = 0; i < used.size(); ++i) CHECK(used[i] <= problem.capacity[i]);
  double sum = 0;
  for (std::size_t i = 0; i < answer.choice.size(); ++i) {
    const AllocationJob& job = problem.jobs[i];
    const std::int32_t chosen = answer.choice[i];
    if (job.pinned != no_option) CHECK(chosen == job.pinned);
    sum +=
        chosen == no_option ? problem.without : job.options[static_cast<std::size_t>(chosen)].value;
    if (chosen != no_option) continue;
    for (const AllocationOption& option : job.options) {
      const bool useful =
          problem.maximise ? option.value > problem.without : option.value < problem.without;
      CHECK_FALSE((useful && used[option.type] + option.gpus <= problem.capacity[option.type]));
    }
  }
  CHECK(near(answer.objective, sum, 1e-12, 0));
  CHECK((problem.maximise ? answer.bound >= answer.objective : answer.bound <= answer.objective));
}

/// The earlier of two jobs that could change places at no loss has the place worth more to it.
void check_job_order(const AllocationProblem& problem, const std::vector<std::int32_t>& choice) {
  const auto same_place = [&](std::size_t job, const AllocationOption* place) {
    if (place == nullptr) return no_option;
    const auto options = problem.jobs[job].options;
    const auto found = std::ranges::find_if(options, [&](const AllocationOption& option) {
      return option.type == place->type && option.gpus == place->gpus;
    });
    return found == options.end() ? no_option - 1
                                  : static_cast<std::int32_t>(found - options.begin());
  };
  const auto place = [&](std::size_t job) {
    return choice[job] == no_option
               ? nullptr
               : &problem.jobs[job].options[static_cast<std::size_t>(choice[job])];
  };
  for (std::size_t i = 0; i < choice.size(); ++i) {
    for (std::size_t k = i + 1; k < choice.size(); ++k) {
      if (problem.jobs[i].pinned != no_option || problem.jobs[k].pinned != no_option) continue;
      auto changed = choice;
      changed[i] = same_place(i, place(k));
      changed[k] = same_place(k, place(i));
      if (changed[i] < no_option || changed[k] < no_option || changed == choice) continue;
      if (standing_of(problem, changed) != standing_of(problem, choice)) continue;
      const auto value = [&](std::int32_t option) {
        return option == no_option
                   ? problem.without
                   : problem.jobs[i].options[static_cast<std::size_t>(option)].value;
      };
      const double better = value(choice[i]) - value(changed[i]);
      CHECK((problem.maximise ? better >= 0 : better <= 0));
    }
  }
}

/// The best that an oracle knows, as an objective.
double objective_of(const AllocationProblem& problem, const Standing& standing) {
  const double gain = (problem.maximise ? 1 : -1) * std::get<0>(standing);
  return static_cast<double>(problem.jobs.size()) * problem.without + gain;
}

TEST_CASE("random problems with a step: objective, held options and GPUs as the oracle has them") {
  for (std::uint64_t seed = 1; seed <= testing::cases(600); ++seed) {
    CAPTURE(seed);
    Random random(seed);
    MadeAllocation made;
    fill_at_random(made, random.uniform() < 0.5 ? 0.01 : 0.25, random);
    const auto best = AllocationOracle(made.problem).best();
    const Allocation answer = AllocationSolver({.step = 0.01}).solve(made.problem);
    CHECK(answer.feasible == best.has_value());
    if (!best) continue;
    check_answer(made.problem, answer);
    CHECK(near(answer.objective, objective_of(made.problem, *best), 1e-9, 0));
    CHECK(answer.bound == answer.objective);
    const Standing standing = standing_of(made.problem, answer.choice);
    CHECK(std::get<1>(standing) == std::get<1>(*best));
    CHECK(std::get<2>(standing) == std::get<2>(*best));
  }
}

TEST_CASE("random problems of any values: the oracle's objective, whatever the step says") {
  for (std::uint64_t seed = 1; seed <= testing::cases(400); ++seed) {
    CAPTURE(seed);
    Random random(1'000'000 + seed);
    MadeAllocation made;
    fill_at_random(made, 0, random);
    const auto best = AllocationOracle(made.problem).best();
    const Allocation answer =
        AllocationSolver({.step = seed % 2 == 0 ? 0 : 0.01}).solve(made.problem);
    CHECK(answer.feasible == best.has_value());
    if (!best) continue;
    check_answer(made.problem, answer);
    CHECK(std::abs(answer.objective - objective_of(made.problem, *best)) < 1e-7);
    CHECK(answer.bound == answer.objective);
  }
}

TEST_CASE("with next to no nodes, or a gap allowed, the bound still holds") {
  for (std::uint64_t seed = 1; seed <= testing::cases(400); ++seed) {
    CAPTURE(seed);
    Random random(2'000'000 + seed);
    MadeAllocation made;
    fill_at_random(made, 0.01, random);
    const auto best = AllocationOracle(made.problem).best();
    if (!best) continue;
    const double optimum = objective_of(made.problem, *best);
    const double sign = made.problem.maximise ? 1 : -1;
    for (const AllocationLimits& limits :
         {AllocationLimits{.step = 0.01, .nodes = 0}, AllocationLimits{.step = 0.01, .nodes = 1},
          AllocationLimits{.step = 0.01, .gap = 0.2}, AllocationLimits{.step = 0, .nodes = 1}}) {
      const Allocation answer = AllocationSolver(limits).solve(made.problem);
      check_answer(made.problem, answer);
      CHECK(sign * (optimum - answer.objective) >= -1e-9);
      CHECK(sign * (answer.bound - optimum) >= -1e-7);
      if (limits.gap > 0) CHECK(answer.gap() <= limits.gap + 1e-9);
      if (limits.nodes < 2) CHECK(answer.nodes < 10);
    }
  }
}

TEST_CASE("equal problems give equal answers, and jobs that could change places stand in order") {
  for (std::uint64_t seed = 1; seed <= testing::cases(300); ++seed) {
    CAPTURE(seed);
    Random random(3'000'000 + seed);
    MadeAllocation made;
    fill_at_random(made, 0.25, random);
    const AllocationSolver fresh({.step = 0.25});
    AllocationSolver first = fresh;
    AllocationSolver second = fresh;
    const Allocation answer = first.solve(made.problem);
    CHECK(second.solve(made.problem).choice == answer.choice);
    if (!answer.feasible) continue;
    check_job_order(made.problem, answer.choice);
    // From the last prices, and for a copy that has them: as good, and as good as each other.
    AllocationSolver copy = first;
    const Allocation again = first.solve(made.problem);
    CHECK(copy.solve(made.problem).choice == again.choice);
    CHECK(standing_of(made.problem, again.choice) == standing_of(made.problem, answer.choice));
  }
}

TEST_CASE("nothing to decide") {
  AllocationSolver solver({.step = 0.01});
  const MadeAllocation empty({4}, {}, 1.1);
  CHECK(solver.solve(empty.problem).choice.empty());
  CHECK(solver.solve(empty.problem).objective == 0);
  CHECK(solver.solve(empty.problem).gap() == 0);
  CHECK(std::isinf(Allocation{.choice = {}, .objective = 0, .bound = -1}.gap()));

  const MadeAllocation no_types({}, {{}}, 1.1);
  CHECK(near(solver.solve(no_types.problem).objective, 1.1, 1e-12, 0));

  const MadeAllocation no_gpus({0}, {{{0, 1, 0.5}}}, 1.1);
  CHECK(solver.solve(no_gpus.problem).choice == std::vector{no_option});

  const MadeAllocation no_options({4}, {{}, {{0, 1, 0.5}}}, 1.1);
  CHECK(solver.solve(no_options.problem).choice == std::vector{no_option, 0});

  const MadeAllocation no_use({4}, {{{0, 1, 1.1}, {0, 2, 1.2}, {0, 5, 0.1}}}, 1.1);
  const Allocation answer = solver.solve(no_use.problem);
  CHECK(answer.choice == std::vector{no_option});
  CHECK(answer.bound == answer.objective);
}

TEST_CASE("a pinned job keeps its option, also one that is worse than nothing") {
  MadeAllocation made({4}, {{{0, 3, 5.0}}, {{0, 2, 0.1}, {0, 1, 0.9}}}, 1.0);
  made.problem.jobs[0].pinned = 0;
  const Allocation answer = AllocationSolver().solve(made.problem);
  CHECK(answer.choice == std::vector{0, 1});
  CHECK(near(answer.objective, 5.9, 1e-12, 0));
  CHECK(answer.gap() == 0);

  made.problem.capacity = {2};
  CHECK_FALSE(AllocationSolver().solve(made.problem).feasible);
}

TEST_CASE("of equal objectives the held option, then the fewer GPUs, then the earlier job") {
  AllocationSolver solver({.step = 0.01});
  // One job, two types, same value.
  MadeAllocation held({4, 4}, {{{0, 1, 0.5}, {1, 2, 0.5}, {1, 1, 0.5}}}, 1.1);
  held.problem.jobs[0].held = 1;
  CHECK(solver.solve(held.problem).choice == std::vector{1});
  held.problem.jobs[0].held = no_option;
  const auto chosen = solver.solve(held.problem).choice[0];
  CHECK((chosen == 0 || chosen == 2));

  // Two held options beat one, and that beats all GPUs saved: 0.5 + 0.5 = 0.6 + 0.4.
  MadeAllocation two({6}, {{{0, 1, 0.6}, {0, 4, 0.5}}, {{0, 1, 0.4}, {0, 2, 0.5}}}, 1.1);
  two.problem.maximise = true;
  two.problem.without = 0;
  two.options[0][0].value = 0.5;
  two.options[1][0].value = 0.5;
  CHECK(solver.solve(two.problem).choice == std::vector{0, 0});
  two.problem.jobs[0].held = 1;
  two.problem.jobs[1].held = 1;
  CHECK(solver.solve(two.problem).choice == std::vector{1, 1});

  // Room for one of three alike: the first; where the last holds it, the last.
  MadeAllocation alike({2}, {{{0, 2, 0.5}}, {{0, 2, 0.5}}, {{0, 2, 0.5}}}, 1.1);
  CHECK(solver.solve(alike.problem).choice == std::vector{0, no_option, no_option});
  alike.problem.jobs[2].held = 0;
  CHECK(solver.solve(alike.problem).choice == std::vector{no_option, no_option, 0});

  // A better objective takes precedence over all of that.
  alike.options[1][0].value = 0.49;
  CHECK(solver.solve(alike.problem).choice == std::vector{no_option, 0, no_option});
}

TEST_CASE("many jobs alike: as many as fit run, the earliest") {
  const std::size_t count = 500;
  MadeAllocation made({40, 16, 7}, std::vector<Options>(count, {{0, 1, 1}, {1, 1, 1}, {2, 1, 1}}),
                      1.1);
  const Allocation answer = AllocationSolver({.step = 0.01}).solve(made.problem);
  CHECK(answer.gap() == 0);
  for (std::size_t i = 0; i < count; ++i) CHECK((answer.choice[i] != no_option) == (i < 63));
}

TEST_CASE("large numbers: more GPUs than jobs can use, values of any size") {
  MadeAllocation made({std::int64_t{1} << 40}, {{{0, 1 << 30, 3e14}}, {{0, 1 << 30, 1e14}}}, 0);
  made.problem.maximise = true;
  for (const double step : {0.0, 0.01, 1e14}) {
    const Allocation answer = AllocationSolver({.step = step}).solve(made.problem);
    CHECK(answer.choice == std::vector{0, 0});
    CHECK(answer.gap() == 0);
  }
  made.problem.capacity = {1 << 30};
  CHECK(AllocationSolver().solve(made.problem).choice == std::vector{0, no_option});
}

}  // namespace
}  // namespace schedmate::elastic
