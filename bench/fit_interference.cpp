// SPDX-License-Identifier: Apache-2.0

/// Fits the weights of data/interference.toml to the published means of Lucid's pair table by the
/// sum of sharing scores, on the profiles of a recipe. What the file holds is where the search
/// starts; `size` is not fitted, because that table has no large model: it is solved for, so that
/// two jobs of 8 billion parameters that keep their GPUs busy run at half speed each, on average.
///
///   fit_interference RECIPE.toml INTERFERENCE.toml

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/random.hpp"
#include "workload/interference.hpp"

namespace schedmate {
namespace {

/// Where our tables cannot follow (above 1) they are asked for 1.
double distance(double asked, double ours) { return std::min(1.0, asked) - ours; }

double loss(const Recipe& recipe, const InterferenceModel& model) {
  const auto means = workload::means_by_score(packing_tables(recipe, model));
  double sum = 0;
  for (std::size_t score = 0; score < means.size(); ++score) {
    sum += std::pow(distance(workload::released_means[score].newcomer, means[score].newcomer), 2) +
           std::pow(distance(workload::released_means[score].resident, means[score].resident), 2);
  }
  return sum;
}

constexpr std::array fitted{&InterferenceModel::compute, &InterferenceModel::bandwidth,
                            &InterferenceModel::newcomer};

/// Moves one weight at a time by a step that shrinks; keeps what is better.
InterferenceModel fit(const Recipe& recipe, InterferenceModel model) {
  Random random(1);
  double best = loss(recipe, model);
  double step = 0.3;
  for (int round = 0; round < 600; ++round) {
    InterferenceModel tried = model;
    double& weight = tried.*fitted[static_cast<std::size_t>(round) % fitted.size()];
    weight = std::max(0.0, weight + step * (2 * random.uniform() - 1));
    if (const double now = loss(recipe, tried); now < best) {
      best = now;
      model = tried;
    }
    if (round % 60 == 59) step *= 0.6;
  }
  return model;
}

/// Mean speed of two jobs of 8 billion parameters at 95 % of the GPU and 30 % of its memory.
double large_pair(const InterferenceModel& model) {
  const workload::Demand large{0.95, 0.30, 8};
  const PairRate rate = workload::pair_rate(model, large, large);
  return (rate.newcomer + rate.resident) / 2;
}

void solve_size(InterferenceModel& model) {
  double low = 0;
  double high = 10;
  for (int round = 0; round < 60; ++round) {
    model.size = (low + high) / 2;
    (large_pair(model) > 0.5 ? low : high) = model.size;
  }
}

double share_below(const PackingTables& tables, double speed, int score_limit) {
  double below = 0;
  double pairs = 0;
  for (std::uint32_t i = 0; i < tables.profiles.size(); ++i) {
    for (std::uint32_t j = 0; j < tables.profiles.size(); ++j) {
      if (tables.profiles[i].sharing_score + tables.profiles[j].sharing_score > score_limit)
        continue;
      const PairRate rate = tables.rate(i, j);
      ++pairs;
      below += std::min(rate.newcomer, rate.resident) < speed ? 1 : 0;
    }
  }
  return pairs > 0 ? below / pairs : 0;
}

void print(const Recipe& recipe, const InterferenceModel& model, std::string_view what) {
  const PackingTables tables = packing_tables(recipe, model);
  fmt::print(
      "{}: compute = {:.3f}, bandwidth = {:.3f}, newcomer = {:.3f}, "
      "size = {:.3f}\n",
      what, model.compute, model.bandwidth, model.newcomer, model.size);
  fmt::print("score sum   asked: newcomer resident   ours: newcomer resident\n");
  const auto means = workload::means_by_score(tables);
  for (std::size_t score = 0; score < means.size(); ++score) {
    fmt::print("{:9}   {:15.2f} {:8.2f}   {:14.3f} {:8.3f}\n", score,
               workload::released_means[score].newcomer, workload::released_means[score].resident,
               means[score].newcomer, means[score].resident);
  }
  fmt::print(
      "pairs with a member below 0.65 (0.5): all {:.1f} % ({:.1f} %), released 5.7 % (0.2 %); "
      "scores up to 2: {:.1f} % ({:.1f} %), released 0.2 % (0 %)\n",
      100 * share_below(tables, 0.65, 4), 100 * share_below(tables, 0.5, 4),
      100 * share_below(tables, 0.65, 2), 100 * share_below(tables, 0.5, 2));
  fmt::print("two jobs of 8 billion parameters: {:.3f} on average\n", large_pair(model));
}

}  // namespace
}  // namespace schedmate

int main(int argc, char** argv) {
  namespace sm = schedmate;
  if (argc != 3) {
    fmt::print(stderr, "fit_interference RECIPE.toml INTERFERENCE.toml\n");
    return 2;
  }
  const auto recipe = sm::read_recipe(argv[1]);
  const auto model = sm::read_interference(argv[2]);
  if (!recipe || !model) {
    fmt::print(stderr, "{}\n", (recipe ? model.error() : recipe.error()).message);
    return 3;
  }
  sm::print(*recipe, *model, "as committed");
  sm::InterferenceModel fitted = *model;
  for (int round = 0; round < 3; ++round) {  // size moves the fit a little, and the other way round
    fitted = sm::fit(*recipe, fitted);
    sm::solve_size(fitted);
  }
  sm::print(*recipe, fitted, "fitted");
  return 0;
}
