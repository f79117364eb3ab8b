// SPDX-License-Identifier: Apache-2.0
#include "core/step_ends.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

namespace schedmate {
namespace {

SeenStep step_of(const std::string& id, EndState state, std::int64_t ended_s) {
  return {.id = id, .name = "train", .end_state = state, .started = at(5), .ended = at(ended_s)};
}

TEST_CASE("the step that tells why is the first that failed, and not the script itself") {
  CHECK(failed_step({}) == nullptr);
  std::vector<SeenStep> steps = {step_of("batch", EndState::failed, 10),
                                 step_of("0", EndState::completed, 20),
                                 step_of("1", EndState::failed, 40)};
  CHECK(failed_step(steps)->id == "1");
  steps.push_back(step_of("2", EndState::cancelled, 30));
  CHECK(failed_step(steps)->id == "2");
  steps.push_back(step_of("3", EndState::unknown, 20));  // it runs
  steps.push_back(step_of("extern", EndState::cancelled, 20));
  CHECK(failed_step(steps)->id == "2");
  steps[3].ended.reset();
  CHECK(failed_step(steps)->id == "1");
}

TEST_CASE("what holds or opens a job is no step of its script, in any part of it") {
  for (const char* const id : {"batch", "extern", "interactive", "+1.extern", "+2.batch"}) {
    CAPTURE(id);
    const std::vector<SeenStep> steps = {step_of(id, EndState::cancelled, 10)};
    CHECK_FALSE(is_of_script(steps.front()));
    CHECK(failed_step(steps) == nullptr);
  }
  const std::vector<SeenStep> steps = {step_of("+1.extern", EndState::cancelled, 10),
                                       step_of("+1.0", EndState::cancelled, 20)};
  CHECK(is_of_script(steps[1]));
  CHECK(failed_step(steps)->id == "+1.0");
}

TEST_CASE("how a step ended, in words") {
  SeenStep step = step_of("0", EndState::failed, 10);
  step.exit_code = 3;
  step.nodes = {"n0", "n1"};
  CHECK(step_words(step) == "step 0 (train) on n0 n1 failed with exit code 3");
  step.exit_signal = 9;
  step.end_state = EndState::cancelled;
  CHECK(step_words(step) == "step 0 (train) on n0 n1 was killed by signal 9");
  step.nodes.assign(20, "n7");
  CHECK(step_words(step).contains("n7 and 12 more was killed"));
  step.exit_signal = step.exit_code = 0;
  step.nodes.clear();
  step.name.clear();
  CHECK(step_words(step) == "step 0 was cancelled");
  step.end_state = EndState::out_of_memory;
  CHECK(step_words(step) == "step 0 ran out of memory");
  step.end_state = EndState::node_fail;
  CHECK(step_words(step) == "step 0 was lost with its node");
}

TEST_CASE("steps come back from their document as they were, and nonsense costs nothing") {
  std::vector<SeenStep> steps = {step_of("batch", EndState::completed, 10),
                                 step_of("+1.0", EndState::failed, 20)};
  steps[1].nodes = {"n0", "n1"};
  steps[1].exit_code = 1;
  steps[1].exit_signal = 11;
  steps[0].started.reset();
  const Document document = steps_document(steps);
  CHECK(steps_in(document) == steps);
  CHECK(document[1]["state"] == "failed");
  CHECK(steps_in(Document::parse("7")).empty());
  CHECK(steps_in(Document::parse(R"([7, null, "x", []])")).empty());
  CHECK(steps_in(Document::parse(R"([{"ended_s": 18446744073709551615}])")).at(0).ended ==
        std::nullopt);
  const auto odd = steps_in(Document::parse(R"([{"id": 7, "exit_code": 1e99, "nodes": [1]}])"));
  REQUIRE(odd.size() == 1);
  CHECK(odd[0].id.empty());
  CHECK(odd[0].exit_code == 0);
}

TEST_CASE(
    "what is written of many and long names is bounded, that of the one that tells why last") {
  std::vector<SeenStep> steps(most_steps, step_of("0", EndState::completed, 10));
  for (SeenStep& each : steps) each.nodes.assign(30, "n7");
  steps.back() = step_of(std::string(1000, '1'), EndState::failed, 20);
  steps.back().name = std::string(255, 'x') + "\u00e9" + std::string(1000, 'x');
  steps.back().nodes.assign(200, "n8");
  const auto kept = steps_in(steps_document(steps));
  REQUIRE(kept.size() == most_steps);
  CHECK(kept.back().nodes == steps.back().nodes);
  CHECK(kept.back().id.size() == 256);
  CHECK(kept.back().name.size() <= 258);  // what was cut in two is replaced
  CHECK(kept.back().name.starts_with(std::string(255, 'x')));
  CHECK(kept.front().nodes == steps.front().nodes);
  std::size_t names = 0;
  for (const SeenStep& each : kept) names += each.nodes.size();
  CHECK(names == 230);  // another thirty would be too many
  steps.back().nodes.assign(1000, "n8");
  CHECK(steps_in(steps_document(steps)).back().nodes.empty());
}

}  // namespace
}  // namespace schedmate
