// SPDX-License-Identifier: Apache-2.0
#include "workload/submissions.hpp"

#include <numeric>

#include "base/check.hpp"
#include "base/random.hpp"

namespace schedmate::workload {
namespace {

constexpr std::uint64_t template_salt = 0x74656d706c6174ULL;
constexpr std::int64_t seeds = 10'000;

/// A place by weight.
std::size_t draw_weighted(std::span<const double> weights, Random& random) {
  double left = random.uniform() * std::reduce(weights.begin(), weights.end());
  for (std::size_t i = 0; i + 1 < weights.size(); ++i) {
    left -= weights[i];
    if (left < 0) return i;
  }
  return weights.size() - 1;
}

std::uint16_t draw_place(std::size_t values, Random& random) {
  return static_cast<std::uint16_t>(random.below(static_cast<std::int64_t>(values)));
}

/// Another place than `now`, with a chance; both draws are made in any case.
void maybe_move(double chance, std::size_t values, std::uint16_t& now, Random& random) {
  const bool moves = random.uniform() < chance;
  const double where = random.uniform();
  if (!moves || values < 2) return;
  const auto other = static_cast<std::size_t>(where * static_cast<double>(values - 1));
  now = static_cast<std::uint16_t>(other >= now ? other + 1 : other);
}

}  // namespace

Submissions::Submissions(const Recipe& recipe, std::uint64_t seed)
    : recipe_(recipe), seed_(mix(seed ^ template_salt)) {
  std::uint32_t profiles = 0;
  for (const RecipeModel& each : recipe.models) {
    first_profile_.push_back(profiles);
    profiles += static_cast<std::uint32_t>(each.batch.size() * each.precision.size());
  }
}

std::uint64_t Submissions::key(std::uint32_t project, std::uint32_t number) const {
  return mix(mix(seed_ ^ project) ^ number);
}

const Submissions::Candidates& Submissions::candidates(std::int32_t gpus) {
  const auto [at, fresh] = by_gpus_.try_emplace(gpus);
  if (fresh) {
    for (std::uint32_t i = 0; i < recipe_.models.size(); ++i) {
      const RecipeModel& each = recipe_.models[i];
      if (gpus < each.gpus_min || gpus > each.gpus_max) continue;
      at->second.models.push_back(i);
      at->second.weights.push_back(each.weight);
    }
  }
  SCHEDMATE_CHECK(!at->second.models.empty(), "a recipe has a model for every GPU count");
  return at->second;
}

void Submissions::draw_first(std::uint32_t project, std::int32_t gpus, DrawnSubmission& drawn) {
  Random random(key(project, 0));
  const Candidates& fits = candidates(gpus);
  drawn.model.model = fits.models[draw_weighted(fits.weights, random)];
  const RecipeModel& model = recipe_.models[drawn.model.model];
  drawn.model.batch = static_cast<std::uint16_t>(draw_weighted(model.batch_weight, random));
  drawn.model.precision = static_cast<std::uint16_t>(draw_weighted(model.precision_weight, random));
  drawn.model.optimizer = draw_place(model.optimizer.size(), random);
  drawn.model.learning_rate = draw_place(model.learning_rate.size(), random);
  drawn.model.length = draw_place(model.length.size(), random);
  drawn.seed = static_cast<std::uint32_t>(random.below(seeds));
  drawn.profile = first_profile_[drawn.model.model] +
                  static_cast<std::uint32_t>(drawn.model.batch * model.precision.size() +
                                             drawn.model.precision);
}

void Submissions::change(std::uint32_t project, DrawnSubmission& drawn) const {
  Random random(key(project, drawn.number));
  const Recipe::Chances& chances = recipe_.resubmission;
  const RecipeModel& model = recipe_.models[drawn.model.model];
  const bool reseeded = random.uniform() < chances.seed;
  const auto seed = static_cast<std::uint32_t>(random.below(seeds));
  if (reseeded) drawn.seed = seed;
  maybe_move(chances.learning_rate, model.learning_rate.size(), drawn.model.learning_rate, random);
  maybe_move(chances.length, model.length.size(), drawn.model.length, random);
}

const DrawnSubmission& Submissions::next(std::uint32_t project, std::int32_t gpus) {
  if (project >= drawn_.size()) drawn_.resize(project + 1);
  DrawnSubmission& drawn = drawn_[project];
  if (drawn.number == 0)
    draw_first(project, gpus, drawn);
  else
    change(project, drawn);
  ++drawn.number;
  return drawn;
}

}  // namespace schedmate::workload
