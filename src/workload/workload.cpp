// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <schedmate/workload.hpp>
#include <tuple>
#include <unordered_map>

#include "base/check.hpp"
#include "base/hash.hpp"
#include "base/random.hpp"
#include "base/sha256.hpp"
#include "workload/extraction_noise.hpp"
#include "workload/interference.hpp"
#include "workload/lengths.hpp"
#include "workload/submissions.hpp"

namespace schedmate {
namespace {

constexpr std::uint64_t shuffle_salt = 0x73687566666c65ULL;

/// Keeps equal things once and gives each a number. Things are plain numbers without padding.
template <class Thing>
class Distinct {
 public:
  explicit Distinct(std::vector<Thing>& things) : things_(things) {}

  std::uint32_t number(const Thing& thing) {
    const auto next = static_cast<std::uint32_t>(things_.size());
    const auto [at, fresh] = numbers_.try_emplace(thing, next);
    if (fresh) things_.push_back(thing);
    return at->second;
  }

 private:
  struct Hash {
    std::size_t operator()(const Thing& thing) const {
      static_assert(std::has_unique_object_representations_v<Thing>);
      std::array<char, sizeof(Thing)> bytes;
      std::memcpy(bytes.data(), &thing, sizeof(Thing));
      return hash_bytes({bytes.data(), bytes.size()});
    }
  };
  std::vector<Thing>& things_;
  std::unordered_map<Thing, std::uint32_t, Hash> numbers_;
};

Result<void> check(const WorkloadOptions& options) {
  const auto wrong = [](std::string_view name, double value, std::string_view needed) {
    return fail(ErrorCode::unsupported,
                fmt::format("{} of a workload is {}; it must be {}", name, value, needed));
  };
  constexpr double most = 1000;
  constexpr std::string_view factor = "a number from 0 to 1000";
  if (!(options.errors >= 0 && options.errors <= most))
    return wrong("errors", options.errors, factor);
  if (!(options.interference >= 0 && options.interference <= most))
    return wrong("interference", options.interference, factor);
  if (!(options.noise >= 0 && options.noise <= 1))
    return wrong("noise", options.noise, "a share from 0 to 1");
  if (!(options.length_share >= 0 && options.length_share <= 1))
    return wrong("length_share", options.length_share, "a share from 0 to 1");
  if (options.packed_gpus < 0)
    return wrong("packed_gpus", options.packed_gpus, "a whole number of at least 0");
  return {};
}

PlaceCode place_of(const Job& job, std::uint32_t project, const workload::DrawnSubmission& drawn) {
  return {job.user,  project, drawn.profile, drawn.model.length, drawn.model.learning_rate,
          drawn.seed};
}

/// The recipe, with lengths that durations have a part in where they are to.
Recipe recipe_of(const WorkloadParts& parts, const WorkloadOptions& options) {
  Recipe recipe = parts.recipe;
  if (options.length_share > 0)
    for (RecipeModel& model : recipe.models) model.length = workload::length_grid();
  return recipe;
}

void fill_rows(const Trace& trace, const WorkloadParts& parts, const WorkloadOptions& options,
               Workload& workload) {
  const workload::Vocabulary vocabulary(parts.recipe, trace);
  const workload::ExtractionNoise noise(parts.errors, options, vocabulary);
  workload::Submissions submissions(parts.recipe, options.seed);
  Distinct facts(workload.facts);
  Distinct places(workload.places);
  // Most resubmissions change no fact, and reading costs more than all else.
  struct LastRead {
    workload::DrawnModel drawn;
    std::uint32_t facts = no_index;
  };
  std::vector<LastRead> last;
  std::vector<std::uint16_t> lengths;
  if (options.length_share > 0)
    lengths =
        workload::draw_lengths(trace, workload.template_of_row, options.length_share, options.seed);
  for (std::size_t row = 0; row < trace.jobs.size(); ++row) {
    const Job& job = trace.jobs[row];
    const std::uint32_t project = workload.template_of_row[row];
    workload::DrawnSubmission drawn = submissions.next(project, job.gpus);
    if (!lengths.empty()) drawn.model.length = lengths[row];
    if (project >= last.size()) last.resize(project + 1);
    LastRead& before = last[project];
    if (before.facts == no_index || before.drawn != drawn.model) {
      const FactCodes truth = vocabulary.codes(drawn.model, job.gpus);
      before = {drawn.model, facts.number(noise.read(truth, project))};
    }
    workload.profile_of_row.push_back(drawn.profile);
    workload.facts_of_row.push_back(before.facts);
    workload.place_of_row.push_back(places.number(place_of(job, project, drawn)));
  }
  workload.vocabulary = vocabulary.values();
}

/// Exchanges what is seen among rows of as many GPUs, or those of one user and VC.
void shuffle(const Trace& trace, const WorkloadOptions& options, Workload& workload) {
  using Class = std::tuple<std::int32_t, std::uint32_t, std::uint32_t>;
  std::map<Class, std::vector<std::size_t>> classes;
  for (std::size_t row = 0; row < trace.jobs.size(); ++row) {
    const Job& job = trace.jobs[row];
    const bool own = options.shuffle == MetadataShuffle::own;
    classes[own ? Class(job.gpus, job.user, job.vc) : Class(job.gpus, 0, 0)].push_back(row);
  }
  Random random(mix(options.seed ^ shuffle_salt));
  for (const auto& [which, rows] : classes) {
    for (std::size_t left = rows.size(); left > 1; --left) {
      const std::size_t one = rows[left - 1];
      const std::size_t two =
          rows[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(left)))];
      std::swap(workload.facts_of_row[one], workload.facts_of_row[two]);
      if (options.shuffle != MetadataShuffle::metadata)
        std::swap(workload.place_of_row[one], workload.place_of_row[two]);
    }
  }
}

/// Is there a GPU count with which both profiles may share?
bool may_meet(const Workload& workload, std::uint32_t one, std::uint32_t two) {
  int fewest = 1;
  int most = std::numeric_limits<int>::max();
  for (const std::uint32_t each : {one, two}) {
    const RecipeModel& model = workload.models[workload.times[each].model];
    fewest = std::max(fewest, model.gpus_min);
    most = std::min({most, model.gpus_max, workload.tables->profiles[each].packed_gpus});
  }
  return fewest <= most;
}

}  // namespace

Result<Workload> make_workload(const Trace& trace, const WorkloadParts& parts,
                               const WorkloadOptions& options) {
  if (const auto ok = check(options); !ok) return tl::unexpected(ok.error());
  const Recipe recipe = recipe_of(parts, options);
  Workload workload;
  PackingTables tables = packing_tables(recipe, parts.interference, options.interference);
  if (options.packed_gpus > 0)
    for (Profile& each : tables.profiles) each.packed_gpus = options.packed_gpus;
  workload.tables = std::make_shared<const PackingTables>(std::move(tables));
  workload.times = workload::recipe_profiles(recipe, parts.interference).times;
  workload.models = recipe.models;
  workload.fingerprint = fingerprint_of(parts);
  workload.template_of_row = cut_templates(trace, options.cut);
  fill_rows(trace, {recipe, parts.interference, parts.errors}, options, workload);
  if (options.shuffle != MetadataShuffle::none) shuffle(trace, options, workload);
  return workload;
}

std::string fingerprint_of(const WorkloadParts& parts) {
  return sha256(parts.recipe.text + parts.interference.text + parts.errors.text);
}

PairRates pair_rates(const Workload& workload, int score_limit) {
  const PackingTables& tables = *workload.tables;
  PairRates rates;
  const auto bin = [](double speed) {
    return static_cast<std::size_t>(std::clamp(std::floor(speed * 20), 0.0, 19.0));
  };
  for (std::uint32_t i = 0; i < tables.profiles.size(); ++i) {
    for (std::uint32_t j = 0; j < tables.profiles.size(); ++j) {
      if (!may_meet(workload, i, j)) continue;
      const PairRate rate = tables.rate(i, j);
      const bool allowed =
          tables.profiles[i].sharing_score + tables.profiles[j].sharing_score <= score_limit;
      ++rates.pairs;
      rates.allowed_pairs += allowed ? 1 : 0;
      for (const double speed : {rate.newcomer, rate.resident}) {
        ++rates.all[bin(speed)];
        rates.allowed[bin(speed)] += allowed ? 1 : 0;
      }
    }
  }
  return rates;
}

}  // namespace schedmate
