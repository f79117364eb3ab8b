// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <string>

#include "base/input.hpp"
#include "live/recovery.hpp"
#include "tests/support/failing_house.hpp"
#include "tests/support/need.hpp"

namespace schedmate::live {
namespace {

using testing::cause_of;

/// A job on two nodes that has just failed.
SeenJob failed_job() {
  SeenJob job;
  job.id = "7";
  job.name = "train";
  job.user = "ann";
  job.submitted = at(100);
  job.phase = JobPhase::ended;
  job.end_state = EndState::failed;
  job.started = at(200);
  job.ended = at(1000);
  job.nodes = {{"a-1", {0, 1}}, {"a-2", {0, 1}}};
  job.output = "/log";
  return job;
}

/// Of a job that failed; on its second node.
SeenStep killed_step(std::int64_t ended_s) {
  return {.id = "0",
          .name = "train",
          .end_state = EndState::cancelled,
          .exit_signal = 9,
          .nodes = {"a-2"},
          .started = at(200),
          .ended = at(ended_s)};
}

struct FailedSo {
  CauseFound cause{};
  std::vector<EarlierFailure> earlier{};
  std::vector<NodeWitness> witnesses{};
  bool may_wait = false;
  EndState end_state = EndState::failed;
  int signal = 0;
};

/// "RULE: drain_node a-1, requeue_excluding a-1, notify ann"; "waits".
std::string response_to(const FailedSo& how) {
  SeenJob job = failed_job();
  job.end_state = how.end_state;
  job.exit_signal = how.signal;
  const Response response = respond_to({job, how.cause, how.earlier, how.witnesses, how.may_wait});
  if (response.waits) return "waits";
  std::string words = std::string(response.rule) + ":";
  for (const Proposal& each : response.proposals) {
    words += " " + std::string(name_of(each.call.kind));
    for (const NodeGpus& node : each.call.nodes) words += " " + node.node;
    if (each.call.kind == ActionKind::notify) words += " " + each.call.user;
    words += ",";
  }
  words.pop_back();  // a comma, or the colon where nothing is done
  return words;
}

NodeWitness witness_of(const std::string& node) { return {"kernel", node, at(990), "Xid 79"}; }

TEST_CASE("the table of what is done about a failure") {
  const CauseFound gpu_fault =
      cause_of(FailureClass::infrastructure, Component::gpu, Recommendation::test_first);
  CHECK(response_to({.cause = gpu_fault, .witnesses = {witness_of("a-1")}}) ==
        "machine_witnessed: drain_node a-1, requeue_excluding a-1, notify ann");
  CHECK(response_to({.cause = gpu_fault}) ==
        "machine_unwitnessed: test_nodes a-1 a-2, requeue_excluding, notify ann");
  CHECK(response_to({.cause = gpu_fault, .may_wait = true}) == "waits");
  CHECK(response_to({.cause = gpu_fault, .witnesses = {witness_of("a-2")}, .may_wait = true}) ==
        "machine_witnessed: drain_node a-2, requeue_excluding a-2, notify ann");
  CHECK(response_to({.cause = cause_of(FailureClass::infrastructure, Component::network),
                     .witnesses = {witness_of("b-1")}}) ==
        "machine_unwitnessed: test_nodes a-1 a-2, requeue_excluding, notify ann");
  CHECK(response_to({.cause = cause_of(FailureClass::other), .end_state = EndState::node_fail}) ==
        "node_lost: requeue_excluding, notify ann");
  CHECK(response_to({.cause = cause_of(FailureClass::infrastructure, Component::storage,
                                       Recommendation::restart_same)}) ==
        "passing: requeue_excluding, notify ann");
  CHECK(response_to({.cause = cause_of(FailureClass::infrastructure, Component::storage)}) ==
        "owner: notify ann");
  CHECK(response_to({.cause = cause_of(FailureClass::user_script)}) == "owner: notify ann");
  CHECK(response_to({.cause = cause_of(FailureClass::framework),
                     .end_state = EndState::out_of_memory}) == "owner: notify ann");
  CHECK(response_to({.cause = cause_of(FailureClass::other), .end_state = EndState::timeout}) ==
        "owner: notify ann");
}

TEST_CASE("a log and an error that may have done no harm: its node is tested, not drained") {
  const CauseFound gpu_fault = cause_of(FailureClass::infrastructure, Component::gpu);
  NodeWitness counted = witness_of("a-1"), flap = witness_of("a-1");
  counted.source = "gpu";
  counted.may_be_harmless = flap.may_pass = true;
  for (const NodeWitness& weak : {counted, flap}) {
    CHECK(response_to({.cause = gpu_fault, .witnesses = {weak}}) ==
          "machine_doubted: test_nodes a-1, requeue_excluding a-1, notify ann");
    CHECK(response_to({.cause = gpu_fault, .witnesses = {weak}, .may_wait = true}) == "waits");
    CHECK(response_to({.cause = gpu_fault, .witnesses = {weak, witness_of("a-2")}}) ==
          "machine_witnessed: drain_node a-2, requeue_excluding a-2, notify ann");
  }
  CHECK(response_to({.cause = gpu_fault, .witnesses = {counted, flap}}) ==
        "machine_doubted: test_nodes a-1, requeue_excluding a-1, notify ann");
  CHECK(response_to({.cause = gpu_fault, .witnesses = {counted, witness_of("a-1")}}) ==
        "machine_witnessed: drain_node a-1, requeue_excluding a-1, notify ann");
}

TEST_CASE("who was killed without a word is started again where a witness says why") {
  CauseFound nothing = cause_of(FailureClass::other);
  nothing.judged = false;
  const std::vector<NodeWitness> witness{witness_of("a-2")};
  CHECK(response_to({.cause = nothing, .witnesses = witness, .signal = 9}) ==
        "killed_witnessed: requeue_excluding a-2, notify ann");
  CHECK(response_to({.cause = nothing, .may_wait = true, .signal = 9}) == "waits");
  CHECK(response_to({.cause = nothing, .signal = 9}) == "owner: notify ann");
  CHECK(response_to({.cause = nothing, .witnesses = witness, .signal = 11}) == "owner: notify ann");
  CHECK(response_to({.cause = nothing, .witnesses = {witness_of("b-1")}, .signal = 9}) ==
        "owner: notify ann");
  CHECK(response_to(
            {.cause = cause_of(FailureClass::user_script), .witnesses = witness, .signal = 9}) ==
        "owner: notify ann");
}

TEST_CASE("a step that was killed says so in the place of its script, of its own nodes") {
  CauseFound nothing = cause_of(FailureClass::other);
  nothing.steps = {killed_step(990)};
  const std::vector<NodeWitness> there{witness_of("a-2")}, elsewhere{witness_of("a-1")};
  CHECK(response_to({.cause = nothing, .witnesses = there}) ==
        "killed_witnessed: requeue_excluding a-2, notify ann");
  CHECK(response_to({.cause = nothing, .witnesses = elsewhere}) == "owner: notify ann");
  CHECK(response_to({.cause = nothing, .witnesses = elsewhere, .may_wait = true}) == "waits");
  nothing.steps.front().exit_signal = 15;  // of the tasks that srun ended for it
  CHECK(response_to({.cause = nothing, .witnesses = there}) ==
        "killed_witnessed: requeue_excluding a-2, notify ann");
  nothing.steps.front().ended = at(1001);  // with its job, as all that still run then
  CHECK(response_to({.cause = nothing, .witnesses = there}) == "owner: notify ann");
  nothing.steps = {killed_step(939)};  // long before its script ended: that did not end it
  CHECK(response_to({.cause = nothing, .witnesses = there}) == "owner: notify ann");
  nothing.steps = {killed_step(940)};
  CHECK(response_to({.cause = nothing, .witnesses = there}) ==
        "killed_witnessed: requeue_excluding a-2, notify ann");
  nothing.steps = {killed_step(990)};
  nothing.steps.front().exit_signal = 11;
  CHECK(response_to({.cause = nothing, .witnesses = there}) == "owner: notify ann");
}

TEST_CASE("where its script was killed, too, any of its nodes may be why") {
  CauseFound nothing = cause_of(FailureClass::other);
  nothing.steps = {killed_step(990)};  // on a-2
  CHECK(response_to({.cause = nothing, .witnesses = {witness_of("a-1")}, .signal = 9}) ==
        "killed_witnessed: requeue_excluding a-1, notify ann");
}

TEST_CASE("the step is among the reasons, and its owner is told") {
  CauseFound cause = cause_of(FailureClass::user_script);
  cause.steps = {killed_step(990)};
  const SeenJob job = failed_job();
  const Response response = respond_to({job, cause, {}, {}, false});
  REQUIRE(response.proposals.size() == 1);
  const std::string step = "step 0 (train) on a-2 was killed by signal 9";
  CHECK(response.proposals[0].why.back() == step);
  CHECK(response.proposals[0].call.text.contains("Its " + step + "."));
}

TEST_CASE("a job whose script ended well as its node was lost") {
  const CauseFound nothing = cause_of(FailureClass::none);
  const std::vector<NodeWitness> lost{{"scheduler", "a-2", at(990), "it is down"}};
  const auto ended_well = [&](const CauseFound& cause) {
    return response_to(
        {.cause = cause, .witnesses = lost, .may_wait = true, .end_state = EndState::completed});
  };
  CHECK(ended_well(nothing) == "lost_at_its_end: notify ann");  // its steps are not known
  CauseFound told = nothing;
  told.steps = {killed_step(1010)};
  CHECK(ended_well(told) == "lost_at_its_end: notify ann");
  told.steps = {{.id = "0", .end_state = EndState::completed, .ended = at(900)}};
  CHECK(ended_well(told) == "lost_at_its_end");  // all was done
  CauseFound blaming = cause_of(FailureClass::infrastructure, Component::network);
  blaming.steps = told.steps;
  CHECK(ended_well(blaming) == "lost_at_its_end");  // whatever its log says
  blaming.steps.push_back({.id = "+1.extern", .end_state = EndState::cancelled, .ended = at(990)});
  CHECK(ended_well(blaming) == "lost_at_its_end");
  blaming.steps.push_back({.id = "1", .end_state = EndState::unknown});  // nobody knows of it
  CHECK(ended_well(blaming) ==
        "machine_witnessed: drain_node a-2, requeue_excluding a-2, notify ann");
  told.steps = {{.id = "extern", .end_state = EndState::completed, .ended = at(990)}};
  CHECK(ended_well(told) == "lost_at_its_end: notify ann");  // of its steps nothing is known
  // Its log says what its script did not, and the cluster says the same.
  CHECK(ended_well(cause_of(FailureClass::infrastructure, Component::network)) ==
        "machine_witnessed: drain_node a-2, requeue_excluding a-2, notify ann");
  CHECK(ended_well(cause_of(FailureClass::infrastructure, Component::storage,
                            Recommendation::restart_same)) == "lost_at_its_end: notify ann");
}

TEST_CASE("a witness counts only for a node of the job that its log does not clear") {
  CauseFound cause = cause_of(FailureClass::infrastructure, Component::gpu);
  cause.blamed = {"a-2"};
  CHECK(response_to({.cause = cause, .witnesses = {witness_of("a-1")}}) ==
        "machine_unwitnessed: test_nodes a-2, requeue_excluding, notify ann");
  CHECK(response_to({.cause = cause, .witnesses = {witness_of("a-2")}}) ==
        "machine_witnessed: drain_node a-2, requeue_excluding a-2, notify ann");
  // A program's own error beside a bad node: that is no reason to drain.
  CHECK(response_to({.cause = cause_of(FailureClass::user_script),
                     .witnesses = {witness_of("a-1")}}) == "owner: notify ann");
}

TEST_CASE("a log that says nothing restarts nothing") {
  CauseFound cause =
      cause_of(FailureClass::infrastructure, Component::gpu, Recommendation::restart_same);
  cause.judged = false;
  CHECK(response_to({.cause = cause, .witnesses = {witness_of("a-1")}}) == "owner: notify ann");
}

TEST_CASE("the same cause at the same step again is the end of it") {
  CauseFound cause = cause_of(FailureClass::infrastructure, Component::gpu);
  cause.step = 500;
  const FailedSo again{.cause = cause, .earlier = {{"f1", 500}}, .witnesses = {witness_of("a-1")}};
  CHECK(response_to(again) == "repeated: notify ann");
  FailedSo further = again;
  further.earlier = {{"f1", 400}};
  CHECK(response_to(further) ==
        "machine_witnessed: drain_node a-1, requeue_excluding a-1, notify ann");
  further.earlier = {{"f2", 500}};
  CHECK(response_to(further).starts_with("machine_witnessed"));
}

TEST_CASE("docs/recovery.md has each rule as it is") {
  const std::string page = testing::need(read_file(SCHEDMATE_SOURCE_DIR "/docs/recovery.md"));
  CHECK(recovery_rules().size() == 9);
  for (const RecoveryRule& rule : recovery_rules()) {
    INFO(rule.name);
    CHECK(page.find("| `" + std::string(rule.name) + "` | " + std::string(rule.summary) + " |") !=
          std::string::npos);
  }
}

}  // namespace
}  // namespace schedmate::live
