// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Profiles of a recipe and what two of them do to each other.

#include <schedmate/recipe.hpp>
#include <schedmate/workload.hpp>
#include <vector>

namespace schedmate::workload {

/// What the interference of a profile depends on.
struct Demand {
  double gpu = 0, memory = 0;  ///< utilisation as shares
  double params_b = 0;         ///< parameters, billions
};

/// Speeds of a pair, unscaled.
[[nodiscard]] PairRate pair_rate(const InterferenceModel& model, const Demand& newcomer,
                                 const Demand& resident);

/// All profiles of a recipe in the order of packing_tables.
struct RecipeProfiles {
  std::vector<Profile> profiles;
  std::vector<ProfileTimes> times;
  std::vector<Demand> demands;
};
[[nodiscard]] RecipeProfiles recipe_profiles(const Recipe& recipe, const InterferenceModel& model);

/// Mean speeds by the sum of the sharing scores 0 to 4 in Lucid's released pair table: first
/// member, second member. Some pairs are faster together than alone there; ours are not.
inline constexpr std::array<PairRate, 5> released_means = {
    {{1.03, 0.99}, {1.00, 0.98}, {0.94, 0.95}, {0.82, 0.90}, {0.70, 0.81}}};

/// The same means of our tables.
[[nodiscard]] std::array<PairRate, 5> means_by_score(const PackingTables& tables);

}  // namespace schedmate::workload
