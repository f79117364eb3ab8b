// SPDX-License-Identifier: Apache-2.0
#include "study/elastic_matches.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <schedmate/workload.hpp>
#include <set>
#include <utility>

#include "advisor/advisor.hpp"
#include "advisor/similar.hpp"
#include "base/check.hpp"
#include "base/text.hpp"
#include "workload/extraction_noise.hpp"
#include "workload/vocabulary.hpp"

namespace schedmate::study {
namespace {

/// The model of an application, as a recipe has it; the batches are those of its jobs.
RecipeModel recipe_model(const elastic::ApplicationModel& model,
                         const std::set<std::int32_t>& batches) {
  RecipeModel recipe;
  recipe.name = model.name;
  recipe.family = model.family;
  recipe.type = model.type;
  recipe.task = model.task;
  recipe.task_type = model.task_type;
  recipe.dataset = model.dataset;
  recipe.framework = model.framework;
  recipe.distributed = "ddp";
  recipe.params_m = model.params_m;
  recipe.batch = {batches.begin(), batches.end()};
  recipe.precision = {model.precision};
  recipe.optimizer = {model.optimizer};
  recipe.learning_rate = {model.learning_rate};
  recipe.length = {model.epochs};
  return recipe;
}

Result<Recipe> recipe_of(const elastic::ElasticWorkload& workload) {
  std::vector<std::set<std::int32_t>> batches(workload.applications.size());
  for (const elastic::ElasticJob& job : workload.jobs) batches[job.application].insert(job.batch);
  Recipe recipe;
  for (std::size_t i = 0; i < batches.size(); ++i) {
    const elastic::ApplicationTraits& traits = workload.applications[i].traits;
    if (!traits.model)
      return fail(
          ErrorCode::unsupported,
          fmt::format(
              "application {}: match=advisor needs to know its code: add [[application.model]] to "
              "applications.toml (docs/formats/elastic.md), or use another match",
              traits.name));
    recipe.models.push_back(recipe_model(*traits.model, batches[i]));
  }
  return recipe;
}

/// What is read of each job.
class ElasticMetadata {
 public:
  ElasticMetadata(const ElasticMatchInput& input, const Recipe& recipe)
      : input_(input),
        recipe_(recipe),
        vocabulary_(recipe, trace_of(input.workload)),
        extraction_noise_(input.errors, options_of(input), vocabulary_) {
    read_.vocabulary = vocabulary_.values();
    read_.facts.resize(1);
  }

  Facts facts(std::size_t row) {
    const elastic::ElasticJob& job = input_.workload.jobs[row];
    const std::vector<int>& batches = recipe_.models[job.application].batch;
    workload::DrawnModel drawn;
    drawn.model = static_cast<std::uint32_t>(job.application);
    drawn.batch =
        static_cast<std::uint16_t>(std::ranges::find(batches, job.batch) - batches.begin());
    read_.facts[0] = extraction_noise_.read(vocabulary_.codes(drawn, job.replicas),
                                            static_cast<std::uint32_t>(row));
    return facts_at(read_, 0);
  }

 private:
  static Trace trace_of(const elastic::ElasticWorkload& workload) {
    Trace trace;
    for (const elastic::ElasticJob& job : workload.jobs) {
      trace.jobs.emplace_back();
      trace.jobs.back().gpus = job.replicas;
    }
    return trace;
  }
  static WorkloadOptions options_of(const ElasticMatchInput& input) {
    WorkloadOptions options;
    options.errors = input.error_scale;
    options.seed = input.seed;
    return options;
  }

  const ElasticMatchInput& input_;
  const Recipe& recipe_;
  workload::Vocabulary vocabulary_;
  workload::ExtractionNoise extraction_noise_;
  Workload read_;
};

/// Earlier jobs, by number.
class ElasticHistory {
 public:
  ElasticHistory() {
    auto embedder = make_embedder("lexical");
    SCHEDMATE_CHECK(embedder.has_value(), "lexical is built in");
    auto store = open_store("memory");
    SCHEDMATE_CHECK(store.has_value(), "memory is built in");
    store_ = std::move(*store);
    auto index = open_index(*store_, *embedder);
    SCHEDMATE_CHECK(index.has_value(), "an index in memory needs nothing");
    index_ = std::move(*index);
  }

  Result<std::vector<std::uint32_t>> similar_to(const advisor::Fields& fields) {
    const auto found = advisor::find_similar({*store_, *index_, fields, ""}, {});
    if (!found) return tl::unexpected(found.error());
    std::vector<std::uint32_t> numbers;
    for (const advisor::FoundJob& each : *found)
      numbers.push_back(parse_number<std::uint32_t>(each.record.id).value_or(0));
    return numbers;
  }

  /// What it showed is known when it is asked for: a record counts from its submission on.
  Result<void> add(JobRecord record, std::size_t number) {
    record.id = std::to_string(number);
    record.submit = SimTime(Seconds(static_cast<std::int64_t>(number)));
    record.outcome.emplace().state = EndState::completed;
    return store_->put(record);
  }

 private:
  std::unique_ptr<Store> store_;
  std::unique_ptr<TextIndex> index_;
};

Submission submission_of(const elastic::ElasticJob& job) {
  Submission submission;
  submission.user = "syn_user";
  submission.job.root = "/syn/" + job.name;
  submission.job.command = "python train.py";
  submission.job.gpus = job.replicas;
  return submission;
}

}  // namespace

Result<elastic::SimilarJobs> advisor_matches(const ElasticMatchInput& input) {
  const auto recipe = recipe_of(input.workload);
  if (!recipe) return tl::unexpected(recipe.error());
  ElasticMetadata metadata(input, *recipe);
  ElasticHistory history;
  elastic::SimilarJobs similar;
  for (std::size_t row = 0; row < input.workload.jobs.size(); ++row) {
    JobRecord record =
        advisor::comparable_record(submission_of(input.workload.jobs[row]), metadata.facts(row),
                                   advisor::FlagRules::built_in());
    auto found = history.similar_to(record.fields);
    if (!found) return tl::unexpected(found.error());
    similar.push_back(std::move(*found));
    if (auto done = history.add(std::move(record), row); !done) return tl::unexpected(done.error());
  }
  return similar;
}

}  // namespace schedmate::study
