// SPDX-License-Identifier: Apache-2.0

/// docs/formats/recipe.md: models and their figures.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>

#include "base/input.hpp"
#include "base/table_reader.hpp"
#include "workload/readers.hpp"

namespace schedmate {
namespace {

constexpr int most_gpus = 1'000'000;
constexpr std::size_t most_models = 500;  // their values can be numbered with 16 bits
constexpr int most_profiles = 2000;       // the matrix of pairs stays below 64 MB
constexpr Bounds chance{0, 1};
constexpr Bounds percent{0, 100};
constexpr Bounds factor{0.01, 10};
constexpr auto length_units =
    std::to_array<std::string_view>({"epochs", "steps", "samples", "env steps", "kimg"});

void read_names(TableReader& row, RecipeModel& model) {
  row.text("name", model.name);
  row.text("family", model.family);
  row.text("type", model.type);
  row.text("task", model.task);
  row.text("task_type", model.task_type);
  row.text("dataset", model.dataset);
  row.text("framework", model.framework);
  row.text("distributed", model.distributed);
  row.maybe_text("resolution", model.resolution);
  row.number("params_m", model.params_m, {1e-6, 1e8});
  row.maybe_flag("pretrained", model.pretrained);
  int tokens = 0;
  row.maybe_whole("sequence_length", tokens, {1, 100'000'000});
  model.sequence_length = tokens;
}

/// [low, high] or [low] for all from there on.
void read_gpus(TableReader& row, RecipeModel& model) {
  std::vector<int> gpus;
  row.wholes("gpus", gpus, {1, most_gpus});
  if (gpus.empty()) return;
  if (gpus.size() > 2 || gpus.front() > gpus.back())
    row.refuse("gpus", "gpus must be [fewest, most], or [fewest] for no upper limit");
  model.gpus_min = gpus.front();
  model.gpus_max = gpus.size() == 1 ? std::numeric_limits<int>::max() : gpus.back();
}

/// One weight for each value; equal ones when there are none.
void read_weights(TableReader& row, std::string_view key, std::size_t values,
                  std::vector<double>& weights) {
  weights.assign(values, 1.0);
  row.maybe_numbers(key, weights, {1e-6, 1e6});
  if (weights.size() != values)
    row.refuse(key, fmt::format("{} must have {} numbers, one for each value", key, values));
}

void read_settings(TableReader& row, RecipeModel& model) {
  read_gpus(row, model);
  std::vector<double> weight;
  row.number("weight", model.weight, {1e-6, 1e6});
  row.wholes("batch", model.batch, {1, 10'000'000});
  if (std::ranges::adjacent_find(model.batch, std::greater_equal()) != model.batch.end())
    row.refuse("batch", "batch must be in ascending order, each size once");
  read_weights(row, "batch_weight", model.batch.size(), model.batch_weight);
  row.texts("precision", model.precision);
  read_weights(row, "precision_weight", model.precision.size(), model.precision_weight);
  row.texts("optimizer", model.optimizer);
  row.numbers("learning_rate", model.learning_rate, {1e-12, 1e6});
  row.numbers("length", model.length, {1, 1e15});
  row.maybe_text("length_unit", model.length_unit);
  if (std::ranges::find(length_units, model.length_unit) == length_units.end()) {
    row.refuse("length_unit",
               fmt::format("length_unit must be one of {}", fmt::join(length_units, ", ")));
  }
  row.maybe_whole("packed_gpus", model.packed_gpus, {0, most_gpus});
}

void read_figures(TableReader& row, RecipeModel& model) {
  row.number("gpu_util_pct", model.gpu_util_pct, percent);
  row.number("gpu_util_doubling_pct", model.gpu_util_doubling_pct, percent);
  row.number("memory_util_pct", model.memory_util_pct, percent);
  row.number("memory_util_doubling_pct", model.memory_util_doubling_pct, percent);
  row.number("memory_mib", model.memory_mib, {0, 1e7});
  row.number("memory_per_sample_mib", model.memory_per_sample_mib, {0, 1e7});
  row.number("step_ms", model.step_ms, {0, 1e7});
  row.number("step_per_sample_ms", model.step_per_sample_ms, {0, 1e7});
  row.number("cold_start_s", model.cold_start_s, {0, 86'400});
  row.number("ramp_s", model.ramp_s, {0, 86'400});
}

void read_model(TableReader& row, RecipeModel& model) {
  read_names(row, model);
  read_settings(row, model);
  read_figures(row, model);
}

void read_top(TableReader& file, Recipe& recipe) {
  file.text("name", recipe.name);
  file.table("resubmission", [&](TableReader& row) {
    row.number("seed", recipe.resubmission.seed, chance);
    row.number("learning_rate", recipe.resubmission.learning_rate, chance);
    row.number("length", recipe.resubmission.length, chance);
  });
  file.table("mixed_precision", [&](TableReader& row) {
    row.number("gpu_util", recipe.mixed_precision.gpu_util, factor);
    row.number("memory_util", recipe.mixed_precision.memory_util, factor);
    row.number("memory", recipe.mixed_precision.memory, factor);
    row.number("step", recipe.mixed_precision.step, factor);
  });
}

/// The smallest GPU count that no model takes, or 0.
int first_gap(const std::vector<RecipeModel>& models) {
  std::vector<std::pair<int, int>> spans;
  for (const RecipeModel& each : models) spans.emplace_back(each.gpus_min, each.gpus_max);
  std::ranges::sort(spans);
  int covered = 0;
  for (const auto& [low, high] : spans) {
    if (low > covered + 1) break;
    if (high == std::numeric_limits<int>::max()) return 0;
    covered = std::max(covered, high);
  }
  return covered + 1;
}

}  // namespace

Result<Recipe> workload::parse_recipe(std::string_view text, const std::string& file) {
  Recipe recipe;
  recipe.text = text;
  std::set<std::pair<std::string, std::string>> seen;
  std::size_t profiles = 0;
  const auto done = TableReader::read(text, file, [&](TableReader& top) {
    read_top(top, recipe);
    top.tables("model", [&](TableReader& row) {
      RecipeModel& model = recipe.models.emplace_back();
      if (recipe.models.size() > most_models)
        row.refuse("", fmt::format("more than {} models", most_models));
      read_model(row, model);
      if (!seen.emplace(model.name, model.dataset).second)
        row.refuse("name", "this model is listed twice for this dataset");
      profiles += model.batch.size() * model.precision.size();
      if (profiles > most_profiles)
        row.refuse("batch",
                   fmt::format("more than {} batches and precisions together", most_profiles));
    });
    if (const int gap = first_gap(recipe.models); gap > 0) {
      top.refuse("model",
                 fmt::format("no model takes jobs of {} GPUs; give one gpus = [{}]", gap, gap));
    }
  });
  if (!done) return tl::unexpected(done.error());
  return recipe;
}

Result<Recipe> read_recipe(const std::string& path) {
  const auto text = read_file(path);
  if (!text) return tl::unexpected(text.error());
  return workload::parse_recipe(*text, path);
}

}  // namespace schedmate
