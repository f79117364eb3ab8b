// SPDX-License-Identifier: Apache-2.0
#include "workload/interference.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/input.hpp"
#include "base/table_reader.hpp"
#include "workload/readers.hpp"

namespace schedmate {
namespace {

constexpr double slowest = 0.05;

double slow_down(const InterferenceModel& model, const workload::Demand& own,
                 const workload::Demand& other) {
  return model.compute * std::max(0.0, own.gpu + other.gpu - 1) +
         model.bandwidth * own.memory * other.memory +
         model.size * std::log10(1 + own.params_b) * other.gpu;
}

/// One batch size and precision of a model.
struct Choice {
  std::size_t batch = 0, precision = 0;
};

Recipe::Factors factors_of(const Recipe& recipe, const RecipeModel& model, const Choice& choice) {
  return model.precision[choice.precision].ends_with("-amp") ? recipe.mixed_precision
                                                             : Recipe::Factors{};
}

Profile profile_of(const RecipeModel& model, const Choice& choice, const Recipe::Factors& factor) {
  Profile profile;
  profile.model = model.name;
  profile.dataset = model.dataset;
  profile.batch_size = model.batch[choice.batch];
  profile.packed_gpus = model.packed_gpus;
  profile.mixed_precision = model.precision[choice.precision].ends_with("-amp");
  const double batch = profile.batch_size;
  const double doublings = std::log2(batch / model.batch.front());
  const auto percent = [&](double start, double step) {
    return std::min(100.0, start + step * doublings);
  };
  profile.gpu_util_pct = factor.gpu_util * percent(model.gpu_util_pct, model.gpu_util_doubling_pct);
  profile.memory_util_pct =
      factor.memory_util * percent(model.memory_util_pct, model.memory_util_doubling_pct);
  profile.gpu_util_pct = std::min(100.0, profile.gpu_util_pct);
  profile.memory_util_pct = std::min(100.0, profile.memory_util_pct);
  profile.memory_mib = factor.memory * (model.memory_mib + model.memory_per_sample_mib * batch);
  return profile;
}

ProfileTimes times_of(const RecipeModel& model, const Choice& choice,
                      const Recipe::Factors& factor) {
  const double batch = model.batch[choice.batch];
  ProfileTimes times;
  times.step =
      FractionalSeconds(factor.step * (model.step_ms + model.step_per_sample_ms * batch) / 1e3);
  times.cold_start = FractionalSeconds(model.cold_start_s);
  times.ramp = FractionalSeconds(model.ramp_s);
  return times;
}

PairRate scaled(PairRate rate, double scale) {
  const auto loss = [&](double speed) { return std::max(slowest, 1 - scale * (1 - speed)); };
  return {loss(rate.newcomer), loss(rate.resident)};
}

}  // namespace

PairRate workload::pair_rate(const InterferenceModel& model, const workload::Demand& newcomer,
                             const workload::Demand& resident) {
  return {1 / (1 + model.newcomer * slow_down(model, newcomer, resident)),
          1 / (1 + slow_down(model, resident, newcomer))};
}

workload::RecipeProfiles workload::recipe_profiles(const Recipe& recipe,
                                                   const InterferenceModel& model) {
  workload::RecipeProfiles made;
  for (std::uint32_t row = 0; row < recipe.models.size(); ++row) {
    const RecipeModel& each = recipe.models[row];
    for (Choice choice; choice.batch < each.batch.size(); ++choice.batch) {
      for (choice.precision = 0; choice.precision < each.precision.size(); ++choice.precision) {
        const Recipe::Factors factors = factors_of(recipe, each, choice);
        Profile profile = profile_of(each, choice, factors);
        profile.sharing_score = model.sharing.score(profile);
        made.demands.push_back(
            {profile.gpu_util_pct / 100, profile.memory_util_pct / 100, each.params_m / 1e3});
        made.profiles.push_back(std::move(profile));
        made.times.push_back(times_of(each, choice, factors));
        made.times.back().model = row;
      }
    }
  }
  return made;
}

PackingTables packing_tables(const Recipe& recipe, const InterferenceModel& model, double scale) {
  workload::RecipeProfiles made = workload::recipe_profiles(recipe, model);
  PackingTables tables;
  tables.sharing = model.sharing;
  tables.profiles = std::move(made.profiles);
  tables.pairs.reserve(made.demands.size() * made.demands.size());
  for (const workload::Demand& newcomer : made.demands)
    for (const workload::Demand& resident : made.demands)
      tables.pairs.push_back(scaled(workload::pair_rate(model, newcomer, resident), scale));
  return tables;
}

std::array<PairRate, 5> workload::means_by_score(const PackingTables& tables) {
  std::array<PairRate, 5> means{};
  std::array<double, 5> pairs{};
  for (auto& each : means) each = {0, 0};
  for (std::uint32_t i = 0; i < tables.profiles.size(); ++i) {
    for (std::uint32_t j = 0; j < tables.profiles.size(); ++j) {
      const int scores = tables.profiles[i].sharing_score + tables.profiles[j].sharing_score;
      const auto sum = static_cast<std::size_t>(scores);
      const PairRate rate = tables.rate(i, j);
      means[sum].newcomer += rate.newcomer;
      means[sum].resident += rate.resident;
      ++pairs[sum];
    }
  }
  for (std::size_t sum = 0; sum < means.size(); ++sum) {
    if (pairs[sum] == 0) continue;
    means[sum].newcomer /= pairs[sum];
    means[sum].resident /= pairs[sum];
  }
  return means;
}

Result<InterferenceModel> workload::parse_interference(std::string_view text,
                                                       const std::string& file) {
  InterferenceModel model;
  model.text = text;
  const auto done = TableReader::read(text, file, [&](TableReader& top) {
    top.table("slow_down", [&](TableReader& row) {
      constexpr Bounds weight{0, 100};
      row.number("compute", model.compute, weight);
      row.number("bandwidth", model.bandwidth, weight);
      row.number("newcomer", model.newcomer, weight);
      row.number("size", model.size, weight);
    });
    top.table("sharing_score", [&](TableReader& row) {
      row.number("heavy_above_memory_util_pct", model.sharing.heavy_memory_util_pct, {0, 100});
      row.number("light_up_to_gpu_util_pct", model.sharing.light_gpu_util_pct, {0, 100});
    });
  });
  if (!done) return tl::unexpected(done.error());
  return model;
}

Result<InterferenceModel> read_interference(const std::string& path) {
  const auto text = read_file(path);
  if (!text) return tl::unexpected(text.error());
  return workload::parse_interference(*text, path);
}

}  // namespace schedmate
