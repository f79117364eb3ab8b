// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What invented workloads are made of (workload.hpp), each read from a TOML file of data/: models
/// with their figures, how pairs of them slow each other down, and what reading code gets wrong
/// (docs/formats/recipe.md). Nothing in them was measured on a GPU; docs/decisions/0005 says why
/// they are needed and what figures on them show. Values that never change once read; threads may
/// share them.

#include <cstdint>
#include <schedmate/job.hpp>
#include <schedmate/result.hpp>
#include <string>
#include <vector>

namespace schedmate {

/// One [[model]] of a recipe. Figures are those of one GPU at the smallest batch and the first
/// precision; `doubling` is what each doubling of the batch adds.
struct RecipeModel {
  /// Facts of the job; "" = it has none.
  std::string name, family, type, task, task_type, dataset, framework, distributed, resolution;
  /// Parameters, millions.
  double params_m = 0;
  bool pretrained = false;
  /// Tokens; 0 = it has none.
  std::int64_t sequence_length = 0;
  /// Jobs that may get it, by GPU count, and how often it is drawn among such models.
  int gpus_min = 1, gpus_max = 0;
  double weight = 1;
  /// Per GPU, ascending. Each list of weights is as long as the list that it is of.
  std::vector<int> batch;
  std::vector<double> batch_weight;
  std::vector<std::string> precision;
  std::vector<double> precision_weight;
  std::vector<std::string> optimizer;
  std::vector<double> learning_rate;
  /// Amount of training that a job asks for, as its command has it.
  std::vector<double> length;
  std::string length_unit = "epochs";
  double gpu_util_pct = 0, gpu_util_doubling_pct = 0;
  double memory_util_pct = 0, memory_util_doubling_pct = 0;
  double memory_mib = 0, memory_per_sample_mib = 0;
  double step_ms = 0, step_per_sample_ms = 0;
  /// From the start to the first step, and from there until the utilisation is steady.
  double cold_start_s = 0;
  double ramp_s = 0;
  /// Most GPUs of a job that may share them.
  int packed_gpus = 8;
};

struct Recipe {
  /// That a resubmission changes it, 0 to 1.
  struct Chances {
    double seed = 0, learning_rate = 0, length = 0;
  };
  /// On a model's figures where its precision ends in -amp.
  struct Factors {
    double gpu_util = 1, memory_util = 1, memory = 1, step = 1;
  };
  std::string name;
  Chances resubmission;
  Factors mixed_precision;
  /// Every GPU count from 1 on has one at least.
  std::vector<RecipeModel> models;
  /// The file, for the fingerprint.
  std::string text;
};

/// How two jobs slow each other down on the same GPUs, and which pairs Lucid lets through. With g
/// and m the utilisations of GPU and memory as shares, p the parameters in billions, a member has
///   slow-down = compute * max(0, g + g' - 1) + bandwidth * m * m'
///             + size * log10(1 + p) * g'
/// times `newcomer` for the one that came later, and runs at 1 / (1 + slow-down): never above 1.
struct InterferenceModel {
  double compute = 0, bandwidth = 0, newcomer = 1, size = 0;
  /// How a profile is scored, by which packing policies choose pairs (Lucid 3.3).
  SharingRule sharing;
  std::string text;
};

/// What extraction gets wrong of one field: the chance that a value is missing, and that one that
/// is given is another one.
struct FieldErrors {
  std::string field;
  double missing = 0, wrong = 0;
};
struct ExtractionErrors {
  std::vector<FieldErrors> fields;
  std::string text;
};

/// Read a file of data/ or one in its form. Errors: invalid, with file, line, column and what is
/// needed; as of read_file when it cannot be read.
[[nodiscard]] Result<Recipe> read_recipe(const std::string& path);
[[nodiscard]] Result<InterferenceModel> read_interference(const std::string& path);
[[nodiscard]] Result<ExtractionErrors> read_extraction_errors(const std::string& path);

/// All profiles of a recipe (model, batch, precision, in this order) and the speeds of all pairs.
/// `scale` multiplies what a member loses (1 - speed); no speed falls below 0.05.
[[nodiscard]] PackingTables packing_tables(const Recipe& recipe, const InterferenceModel& model,
                                           double scale = 1);

}  // namespace schedmate
