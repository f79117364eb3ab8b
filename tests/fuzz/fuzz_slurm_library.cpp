// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "base/check.hpp"
#include "base/utf8.hpp"
#include "core/step_ends.hpp"
#include "slurm_live/answer.hpp"
#include "slurm_live/ended_away.hpp"
#include "slurm_live/rows.hpp"
#include "slurm_live/scripts.hpp"
#include "slurm_live/steps.hpp"
#include "tests/fuzz/targets.hpp"

namespace schedmate::fuzz {
namespace {

void check_text(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = utf8_length(text, i);
    SCHEDMATE_CHECK(length > 0, "texts are valid");
    i += length;
  }
}

}  // namespace

/// Answers of the process that has Slurm's library, what sacct prints, and scripts.
void fuzz_slurm_library(std::string_view input) {
  if (const auto answer = slurm_live::read_answer(input)) {
    check_text(answer->text);
    SCHEDMATE_CHECK(answer->changed >= 0, "a time that can be asked with");
    const slurm_live::KeptJobs kept{{"7", {.submitted = at(5), .nodes = {{"n0", {1}}}}}};
    if (const auto rows = slurm_live::rows_of(answer->records, kept, at(1'795'714'411)))
      for (const slurm_live::Row& row : *rows) {
        check_text(row.seen.name);
        SCHEDMATE_CHECK(row.seen.gpus >= 0, "GPUs are a count");
        SCHEDMATE_CHECK((row.seen.phase == JobPhase::ended) == row.seen.ended.has_value(),
                        "what has ended has an end");
      }
    if (const auto nodes = slurm_live::nodes_of(answer->records))
      for (const SeenNode& node : *nodes)
        SCHEDMATE_CHECK(!node.name.empty() && node.gpus >= 0, "a node has a name");
  }
  SeenJob lost;
  lost.id = "7";
  lost.submitted = at(5);
  lost.user = "ann";
  lost.phase = JobPhase::running;
  if (const auto ended = slurm_live::read_ended(input, {{"7", lost}}))
    for (const SeenJob& job : *ended)
      SCHEDMATE_CHECK(job.phase == JobPhase::ended && job.ended && *job.ended >= at(5),
                      "it has ended after it was submitted");
  if (const auto told = slurm_live::read_steps(input, lost)) {
    SCHEDMATE_CHECK(told->steps.size() <= most_steps, "steps are few");
    for (const SeenStep& step : told->steps) {
      check_text(step.name);
      check_text(step.id);
    }
    SCHEDMATE_CHECK(steps_in(steps_document(told->steps)) == told->steps, "they can be kept");
  }
  if (const auto script = slurm_live::script_in(input)) check_text(*script);
}

}  // namespace schedmate::fuzz
