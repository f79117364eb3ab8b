// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Invented workloads on real rows. No public trace says what its jobs compute, so a recipe gives
/// each job a model, a profile and what the Advisor would read of it, by template: the
/// resubmissions of one (user, virtual cluster, GPU count). The seed draws models by GPU count and
/// template, never by duration, and the rows of the trace stay as they are.
/// docs/formats/recipe.md has the rules; docs/decisions/0005 and 0011 say what figures on such
/// workloads show and what they do not.

#include <array>
#include <cstdint>
#include <memory>
#include <schedmate/facts.hpp>
#include <schedmate/recipe.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace schedmate {

/// Where one template ends and the next begins in the submissions of a (user, VC, GPU count).
enum class TemplateCut : std::uint8_t {
  by_duration,  ///< a duration over a factor 2 from the one before: leaks
  by_gap,       ///< no submission for over an hour: looks at no duration
};

/// Controls: what the Advisor sees is exchanged among jobs of equal GPU count; trace and true
/// profiles stay. With `all` most directories become other users', so that nobody resubmits.
enum class MetadataShuffle : std::uint8_t {
  none,
  metadata,  ///< the facts alone
  all,       ///< facts, directory and command together
  own,       ///< the same among the jobs of one user and VC: as many jobs are known as without
};

struct WorkloadOptions {
  TemplateCut cut = TemplateCut::by_gap;
  MetadataShuffle shuffle = MetadataShuffle::none;
  /// Times the measured rates; 0 = the Advisor reads everything right.
  double errors = 1;
  /// Share of facts exchanged for others besides, 0 to 1.
  double noise = 0;
  /// Times what members of a pair lose.
  double interference = 1;
  /// Of every Profile; 0 = as the recipe says.
  int packed_gpus = 0;
  /// Share of the variance of log durations that the training length explains, 0 to 1; 0 = lengths
  /// are drawn without regard to durations, once a template.
  double length_share = 0;
  std::uint64_t seed = 1;
};

/// What a workload is made of; all of it is copied where it is kept.
struct WorkloadParts {
  const Recipe& recipe;
  const InterferenceModel& interference;
  const ExtractionErrors& errors;
};

/// Beside a Profile: what of it the profiler and the log would show.
struct ProfileTimes {
  /// Index into Recipe::models.
  std::uint32_t model = 0;
  FractionalSeconds step{0};
  /// From the start to the first step, and from there until the utilisation is steady.
  FractionalSeconds cold_start{0};
  FractionalSeconds ramp{0};
};

/// Fields of the facts that a recipe fills, in this order.
inline constexpr auto workload_fields = std::to_array<std::string_view>(
    {"model_name", "model_family", "model_type", "task_type", "task", "dataset", "framework",
     "distributed", "batch_size", "length", "precision", "optimizer", "learning_rate",
     "params_scale", "pretrained", "sequence_length", "resolution", "gpus", "nodes"});

/// A number for the value of each field: 0 = none, else 1 + index into the vocabulary's column.
using FactCodes = std::array<std::uint16_t, workload_fields.size()>;
/// For each field every value that the recipe (or, of GPUs and nodes, the trace) has for it.
using FactVocabulary = std::array<std::vector<FactValue>, workload_fields.size()>;

/// Directory and command of a submission, as numbers.
struct PlaceCode {
  /// Index into Trace::users; template.
  std::uint32_t user = 0, project = 0;
  std::uint32_t profile = 0;
  /// Index into the model's lists.
  std::uint16_t length = 0, learning_rate = 0;
  std::uint32_t seed = 0;
  bool operator==(const PlaceCode&) const = default;
};

/// Where a job is started: invented (then no such directory exists), or as accounting has it.
struct JobPlace {
  std::string root, command;
  auto operator<=>(const JobPlace&) const = default;
};

/// One entry a row of the trace in each `_of_row`. Equal metadata is kept once, as numbers: 40
/// bytes for each different set of facts, 20 for each different command. Immutable; threads may
/// share it.
struct Workload {
  std::shared_ptr<const PackingTables> tables;
  /// One for each of tables->profiles.
  std::vector<ProfileTimes> times;
  std::vector<std::uint32_t> template_of_row;
  /// The true profile, index into tables->profiles.
  std::vector<std::uint32_t> profile_of_row;
  /// As the Advisor sees them, after errors and shuffle: indices into `facts` and `places`.
  std::vector<std::uint32_t> facts_of_row;
  std::vector<std::uint32_t> place_of_row;
  std::vector<FactCodes> facts;
  std::vector<PlaceCode> places;
  /// Of accounting; when there are any they count instead of `places`.
  std::vector<JobPlace> reported_places;
  FactVocabulary vocabulary;
  std::vector<RecipeModel> models;
  /// Of the files, as sha256sum prints it.
  std::string fingerprint;
};

/// Takes the place of each row from accounting, and no facts; profiles stay as they are.
void set_reported_places(Workload& workload, const std::vector<JobPlace>& place_of_row);

/// What a trace with packing tables of its own says of its jobs: model, dataset, batch size and
/// precision by their profiles, read without mistakes; a folder and a command made from these, as
/// its users would submit them. It has no tables and no templates: those of the trace count.
[[nodiscard]] Workload workload_of_profiles(const Trace& trace);

/// The template of each row, numbered from 0 in the order in which they appear.
[[nodiscard]] std::vector<std::uint32_t> cut_templates(const Trace& trace, TemplateCut cut);

/// Equal inputs give equal workloads. One pass over the trace. Errors: unsupported for a factor
/// that is negative or not finite, a noise above 1.
[[nodiscard]] Result<Workload> make_workload(const Trace& trace, const WorkloadParts& parts,
                                             const WorkloadOptions& options);

/// Facts by index into Workload::facts, as extract_facts would give them; without evidence.
[[nodiscard]] Facts facts_at(const Workload& workload, std::uint32_t index);
/// Directory and command by index into Workload::places.
[[nodiscard]] JobPlace place_at(const Workload& workload, std::uint32_t index);

/// SHA-256 (hex) of the three files one after the other:
/// cat RECIPE INTERFERENCE ERRORS | sha256sum.
[[nodiscard]] std::string fingerprint_of(const WorkloadParts& parts);

/// How the speeds of the members of pairs spread: bin i counts speeds from i / 20 to (i + 1) / 20,
/// the last one 1 too. Pairs are counted in both orders; those that never meet (no GPU count that
/// both may have and share) are not.
struct PairRates {
  std::array<std::uint64_t, 20> all{};
  /// Pairs whose sharing scores sum to the limit at most.
  std::array<std::uint64_t, 20> allowed{};
  std::uint64_t pairs = 0, allowed_pairs = 0;
};
[[nodiscard]] PairRates pair_rates(const Workload& workload, int score_limit = 2);

}  // namespace schedmate
