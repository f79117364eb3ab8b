// SPDX-License-Identifier: Apache-2.0
#include "scenario.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <span>

#include "base/random.hpp"

namespace oracle {
namespace {

class Dice : public schedmate::Random {
 public:
  using Random::Random;
  template <class T>
  T pick(std::initializer_list<T> choices) {
    return choices.begin()[below(std::ssize(choices))];
  }
  bool chance(double share) { return uniform() < share; }
};

std::vector<TickVc> random_vcs(Dice& dice) {
  std::vector<std::string> names{"vc8Gr", "vcefl", "vcYVn", "vcOther"};
  const auto count = static_cast<std::size_t>(dice.between(1, 4));
  const int gpus_per_node = dice.chance(0.25) ? 4 : 8;
  std::vector<TickVc> vcs;
  while (vcs.size() < count) {
    const auto name = names.begin() + dice.below(std::ssize(names));
    vcs.push_back({*name, dice.pick({1, 2, 2, 3, 3, 4}), gpus_per_node,
                   dice.pick<Tick>({1, 1, 1, 1, 10, 20, 60})});
    names.erase(name);
  }
  return vcs;
}

void fill_tables(Dice& dice, TickInput& input) {
  for (int i = 0; i < 5; ++i) {
    input.profiles.push_back({static_cast<int>(dice.pick({0, 0, 1, 1, 2})),
                              dice.pick({2'000.0, 8'000.0, 12'287.5, 12'288.0, 16'000.0}),
                              dice.chance(0.15)});
  }
  // The last one makes subtractions that lie exactly between two doubles.
  const auto speed = [&] {
    return dice.pick({1.0, 0.5, 0.97, 0.3 + 1.2 * dice.uniform(), 0.75 + 0x1p-44});
  };
  input.pairs.resize(input.profiles.size() * input.profiles.size());
  for (PairSpeed& pair : input.pairs) pair = {speed(), speed()};
}

void fill_forecast(Dice& dice, TickInput& input) {
  input.forecast.first = input.jobs.front().submit / 600 * 600 + dice.pick<Tick>({-1200, 0, 0, 50});
  const double level = dice.pick({2.0, 2.5, 6.0, 6.0});
  for (std::int64_t row = dice.between(1, 12); row > 0; --row) {
    input.forecast.jobs.push_back(level + 0.5 * static_cast<double>(dice.between(-2, 2)));
    input.forecast.gpus.push_back(20.0 * static_cast<double>(dice.between(0, 3)));
  }
}

/// What the jobs of one scenario have in common.
struct Kind {
  double long_share = 0;   // of the jobs that outlast their profile
  double large_share = 0;  // of the jobs of any size, which may exceed a node or the VC
  int usual_gpus = 8;
  Tick longest = 1'200;  // 6,000 s on 8 GPUs is enough for Tiresias' low queue
};

Tick random_duration(Dice& dice, const Kind& kind) {
  if (dice.chance(kind.long_share)) return dice.between(201, kind.longest);
  switch (dice.below(4)) {
    case 0:
      return dice.between(1, 5);
    case 1:
      return dice.between(198, 203);  // about the time of a profile
    case 2:
      return dice.pick<Tick>({60, 100, 120, 300});
    default:
      return dice.between(1, 300);
  }
}

int random_gpus(Dice& dice, const Kind& kind, int gpus_per_node) {
  if (!dice.chance(kind.large_share)) {
    return std::min(kind.usual_gpus, dice.pick({1, 1, 1, 2, 2, 3, 4, 4, 6, 8}));
  }
  if (dice.chance(0.5)) return static_cast<int>(dice.between(1, 3)) * gpus_per_node;
  return static_cast<int>(dice.between(1, std::int64_t{3} * gpus_per_node));
}

double random_estimate(Dice& dice, Tick duration) {
  switch (dice.below(4)) {
    case 0:
      return static_cast<double>(duration);
    case 1:
      return static_cast<double>(100 * dice.between(1, 4));
    case 2:
      return -5;
    default:
      return static_cast<double>(duration) * (0.2 + 3 * dice.uniform());
  }
}

TickJob random_job(Dice& dice, const Kind& kind, const TickInput& input) {
  TickJob job;
  job.vc = static_cast<std::size_t>(dice.below(std::ssize(input.vcs)));
  const bool twin = !input.jobs.empty() && dice.chance(0.25);
  job.duration = twin ? input.jobs.back().duration : random_duration(dice, kind);
  job.gpus =
      twin ? input.jobs.back().gpus : random_gpus(dice, kind, input.vcs.front().gpus_per_node);
  job.estimate = random_estimate(dice, job.duration);
  job.profile = static_cast<std::size_t>(dice.below(std::ssize(input.profiles)));
  return job;
}

void fill_jobs(Dice& dice, TickInput& input) {
  const Kind kind{dice.pick({0.1, 0.5, 0.9}), dice.pick({0.0, 0.1, 0.3}), dice.pick({2, 4, 8}),
                  dice.pick<Tick>({1'200, 1'200, 6'000})};
  const double burst = dice.pick({0.5, 0.8, 0.95});
  const Tick gap = dice.pick<Tick>({5, 60, 400});
  Tick submit = dice.pick<Tick>({1'000, 1'234, 13'219'200, 13'219'203});
  // Later waves make the profiler's extra node come and go more than once.
  for (int waves = dice.pick({1, 1, 1, 1, 1, 3}); waves > 0; --waves) {
    for (std::int64_t left = dice.between(5, 40); left > 0; --left) {
      TickJob job = random_job(dice, kind, input);
      job.submit = submit;
      input.jobs.push_back(job);
      if (!dice.chance(burst)) submit += dice.between(1, gap);
    }
    submit += dice.between(200, 1'500);
  }
}

}  // namespace

TickInput random_scenario(std::uint64_t seed) {
  Dice dice(schedmate::mix(seed));
  TickInput input;
  input.vcs = random_vcs(dice);
  fill_tables(dice, input);
  fill_jobs(dice, input);
  fill_forecast(dice, input);
  return input;
}

TickInput shrink(TickInput input, const std::function<bool(const TickInput&)>& fails) {
  for (bool smaller = true; smaller;) {
    smaller = false;
    for (std::size_t i = input.jobs.size(); i-- > 0;) {
      TickInput without = input;
      without.jobs.erase(without.jobs.begin() + static_cast<std::ptrdiff_t>(i));
      if (without.jobs.empty() || !fails(without)) continue;
      input = std::move(without);
      smaller = true;
    }
  }
  return input;
}

std::string listing(const TickInput& input) {
  std::string text;
  for (const TickVc& vc : input.vcs) {
    text += fmt::format("vc {} nodes {} x {} round {}\n", vc.name, vc.nodes, vc.gpus_per_node,
                        vc.round);
  }
  std::set<std::size_t> used;
  for (std::size_t id = 0; id < input.jobs.size(); ++id) {
    const TickJob& job = input.jobs[id];
    used.insert(job.profile);
    text += fmt::format("job {} vc {} submit {} duration {} gpus {} estimate {} profile {}\n", id,
                        input.vcs[job.vc].name, job.submit, job.duration, job.gpus, job.estimate,
                        job.profile);
  }
  for (const std::size_t a : used) {
    const TickProfile& profile = input.profiles[a];
    text += fmt::format("profile {} score {} memory {} interference free {}\n", a,
                        profile.sharing_score, profile.memory_mib, profile.interference_free);
    for (const std::size_t b : used) {
      const auto& [newcomer, resident] = input.pairs[a * input.profiles.size() + b];
      text += fmt::format("  joining {}: {} and {}\n", b, newcomer, resident);
    }
  }
  text += fmt::format("forecast from {}:", input.forecast.first);
  for (std::size_t row = 0; row < input.forecast.jobs.size(); ++row) {
    text += fmt::format(" {}/{}", input.forecast.jobs[row], input.forecast.gpus[row]);
  }
  return text + "\n";
}

}  // namespace oracle
