// SPDX-License-Identifier: Apache-2.0
#include <schedmate/workload.hpp>

#include "base/check.hpp"
#include "tests/fuzz/targets.hpp"
#include "workload/readers.hpp"

namespace schedmate::fuzz {
namespace {

template <class Value>
void check_error(const Result<Value>& result) {
  if (result) return;
  SCHEDMATE_CHECK(result.error().code == ErrorCode::invalid, "what is wrong is the file");
  SCHEDMATE_CHECK(result.error().message.starts_with("input:"), "an error says where");
}

/// A job of each of some GPU counts.
Trace some_jobs() {
  Trace trace;
  for (const int gpus : {1, 3, 4, 8, 9, 1'000'000}) {
    Job job;
    job.gpus = gpus;
    trace.jobs.push_back(job);
  }
  return trace;
}

}  // namespace

void fuzz_recipes(std::string_view input) {
  const auto recipe = workload::parse_recipe(input, "input");
  const auto interference = workload::parse_interference(input, "input");
  const auto errors = workload::parse_extraction_errors(input, "input");
  check_error(recipe);
  check_error(interference);
  check_error(errors);
  if (!recipe) return;
  // What can be read can be used.
  const Trace trace = some_jobs();
  const auto workload =
      make_workload(trace, {*recipe, InterferenceModel{}, ExtractionErrors{}}, {});
  SCHEDMATE_CHECK(workload.has_value(), "every GPU count has a model");
  for (std::uint32_t row = 0; row < trace.jobs.size(); ++row) {
    SCHEDMATE_CHECK(!facts_at(*workload, workload->facts_of_row[row]).facts.empty(), "facts");
    SCHEDMATE_CHECK(!place_at(*workload, workload->place_of_row[row]).command.empty(), "command");
  }
  for (const PairRate& rate : workload->tables->pairs)
    SCHEDMATE_CHECK(rate.newcomer > 0 && rate.newcomer <= 1, "speeds are above 0 and up to 1");
}

}  // namespace schedmate::fuzz
