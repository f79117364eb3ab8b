// SPDX-License-Identifier: Apache-2.0
#include "live/recovery.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <ranges>
#include <string>

#include "base/input.hpp"
#include "tests/support/live_house.hpp"
#include "tests/support/need.hpp"

namespace schedmate::live {
namespace {

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

struct FailedSo {
  CauseFound cause{};
  std::vector<EarlierFailure> earlier{};
  std::vector<NodeWitness> witnesses{};
  bool may_wait = false;
  EndState end_state = EndState::failed;
};

/// "RULE: drain_node a-1, requeue_excluding a-1, notify ann"; "waits".
std::string response_to(const FailedSo& how) {
  SeenJob job = failed_job();
  job.end_state = how.end_state;
  const Response response = respond_to({job, how.cause, how.earlier, how.witnesses, how.may_wait});
  if (response.waits) return "waits";
  std::string words = std::string(response.rule) + ":";
  for (const Proposal& each : response.proposals) {
    words += " " + std::string(name_of(each.call.kind));
    for (const NodeGpus& node : each.call.nodes) words += " " + node.node;
    if (each.call.kind == ActionKind::notify) words += " " + each.call.user;
    words += ",";
  }
  words.pop_back();
  return words;
}

CauseFound cause_of(FailureClass verdict, Component component = Component::none,
                    Recommendation recommendation = Recommendation::notify) {
  return {.verdict = verdict,
          .component = component,
          .recommendation = recommendation,
          .reason = "what the log says",
          .fingerprint = "f1"};
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
  CHECK(recovery_rules().size() == 6);
  for (const RecoveryRule& rule : recovery_rules()) {
    INFO(rule.name);
    CHECK(page.find("| `" + std::string(rule.name) + "` | " + std::string(rule.summary) + " |") !=
          std::string::npos);
  }
}

// In the loop ------------------------------------------------------------------------------------

struct FailingHouse {
  explicit FailingHouse(live::Settings settings = testing::ActingDesk::all_act())
      : house(8, std::move(settings)) {
    house.studies = [this](const Study& study) -> Result<Finding> {
      if (study.what == Study::What::failure) return cause;
      if (study.what == Study::What::log) return LogFound{.step = step, .file = 1, .bytes = 1};
      return CodeFound{};
    };
  }
  /// It runs, and ends so.
  void fail(const std::string& id, EndState how = EndState::failed) {
    if (house.site.see(id).id.empty()) house.site.submit(id).output = "/log";
    house.turns(40);
    house.site.finish(id, how);
    house.turns(3);
  }
  double step = 1;
  CauseFound cause = cause_of(FailureClass::infrastructure, Component::gpu);
  testing::LiveHouse house;
};

TEST_CASE("a node that the cluster lost under a job that failed for it is the second witness") {
  FailingHouse there;
  there.house.site.submit("1").output = "/log";
  there.house.turns(3);
  const std::string node = there.house.site.see("1").nodes.front().node;
  there.house.site.change_node(node).state = NodeState::down;
  there.house.site.change_node(node).reason = "not responding";
  there.house.site.finish("1", EndState::failed);
  there.house.turns(3);
  // What is down needs no drain.
  CHECK(there.house.actions().starts_with(
      "start verified, requeue_excluding verified, notify verified, start"));
  CHECK(there.house.book().at(2).call.nodes == std::vector<NodeGpus>{{node, {}}});
  CHECK(there.house.site.see("1").phase == JobPhase::running);
}

TEST_CASE("a probe is the second witness, also when it speaks after the failure") {
  FailingHouse there;
  there.house.site.submit("1").output = "/log";
  there.house.turns(3);
  const std::string node = there.house.site.see("1").nodes.front().node;
  there.house.site.finish("1", EndState::failed);
  there.house.turns(20);
  CHECK(there.house.actions() == "start verified");
  there.house.tell(Witnessed{{"kernel", node, there.house.site.now(), "Xid 79"}});
  there.house.turns(3);
  CHECK(there.house.actions().starts_with(
      "start verified, drain_node verified, requeue_excluding verified, notify verified"));
  CHECK(there.house.site.see_node(node).state == NodeState::drained);
}

TEST_CASE("an owner is promised a restart only where there is one") {
  const auto told = [](Mode recover) {
    live::Settings settings = testing::ActingDesk::all_act();
    settings.modes.recover = recover;
    FailingHouse there(settings);
    there.cause.recommendation = Recommendation::restart_same;
    there.cause.component = Component::none;
    there.fail("1");
    const auto calls = there.house.site.calls();
    const auto tell = std::ranges::find(calls, ActionKind::notify, &ActionCall::kind);
    REQUIRE(tell != calls.end());
    return tell->text;
  };
  CHECK(told(Mode::act).contains("SchedMate: the fault may have passed; it is started again."));
  for (const Mode mode : {Mode::shadow, Mode::approve})
    CHECK(told(mode).contains("SchedMate: it is not started again by itself"));
}

TEST_CASE("two witnesses of one node drain it without a job that fails; two words of one do not") {
  FailingHouse there;
  there.house.turns(2);
  const auto hear = [&](const char* source, const char* node) {
    there.house.tell(Witnessed{{source, node, there.house.site.now(), "bad"}});
    there.house.turns(2);
  };
  hear("kernel", "a-1");
  hear("kernel", "a-1");
  hear("gpu", "a-2");
  CHECK(there.house.actions().empty());
  hear("gpu", "a-1");
  CHECK(there.house.actions() == "drain_node verified");
  CHECK(there.house.site.see_node("a-1").state == NodeState::drained);
  hear("gpu", "a-1");
  CHECK(there.house.actions() == "drain_node verified");
}

TEST_CASE("without a witness there is a while for one to come, then a test and a restart") {
  FailingHouse there;
  there.fail("1");
  CHECK(there.house.actions() == "start verified");
  there.house.turns(50);
  CHECK(there.house.actions() == "start verified");
  there.house.turns(20);
  CHECK(there.house.actions() ==
        "start verified, test_nodes verified, requeue_excluding verified, notify verified, start "
        "verified");
}

/// Of job 1 on four nodes, whose log blames a machine; what comes after its failure.
std::string after_blame(FailingHouse& there) {
  there.house.site.submit("1", 16).output = "/log";
  there.house.turns(40);
  const std::size_t before = there.house.site.calls().size();
  there.house.site.finish("1", EndState::failed);
  there.house.turns(140);
  std::string words;
  for (std::size_t i = before; i < there.house.site.calls().size(); ++i) {
    const ActionCall& call = there.house.site.calls()[i];
    if (call.kind != ActionKind::test_nodes && call.kind != ActionKind::drain_node) continue;
    words += words.empty() ? "" : ", ";
    words += call.kind == ActionKind::drain_node ? "drain" : "test";
    for (const NodeGpus& node : call.nodes) words += " " + node.node;
  }
  return words;
}

TEST_CASE("a node that only a log blames is found by testing halves, and drained") {
  FailingHouse there;
  there.house.site.bad = {"a-2"};
  CHECK(after_blame(there) ==
        "test a-0 a-1 a-2 a-3, test a-0 a-1, test a-2 a-3, test a-2, test a-3, drain a-2");
  CHECK(there.house.site.see_node("a-2").state == NodeState::drained);
  CHECK(there.house.site.see_node("a-2").reason.contains("schedmate:"));
  for (const Action& action : there.house.book() | std::views::values)
    if (action.call.kind == ActionKind::drain_node) {
      CHECK(action.why.back().starts_with("test of a-2: failed: job test-"));
      CHECK(action.why.at(action.why.size() - 2).starts_with("log of a-2: "));
    }
}

TEST_CASE("two bad nodes are found, too") {
  FailingHouse there;
  there.house.site.bad = {"a-0", "a-3"};
  CHECK(after_blame(there) ==
        "test a-0 a-1 a-2 a-3, test a-0 a-1, test a-2 a-3, test a-0, test a-1, test a-2, test a-3, "
        "drain a-0");
  CHECK(there.house.actions().ends_with("drain_node waiting"));  // one of eight at a time
}

TEST_CASE("nodes that pass their test, or fail it together only, are not drained") {
  FailingHouse good;
  CHECK(after_blame(good) == "test a-0 a-1 a-2 a-3");
  FailingHouse together;
  together.house.site.bad_together = {"a-1", "a-2"};
  CHECK(after_blame(together) == "test a-0 a-1 a-2 a-3, test a-0 a-1, test a-2 a-3");
}

TEST_CASE("a test that does not come to its end says nothing") {
  FailingHouse there;
  there.house.site.tests_hang = true;
  CHECK(after_blame(there) == "test a-0 a-1 a-2 a-3");
  there.house.turns(600);
  CHECK(there.house.actions().contains("test_nodes failed"));
}

TEST_CASE("a test that was cancelled, or stopped for another job, says nothing") {
  for (const EndState how : {EndState::cancelled, EndState::preempted, EndState::unknown}) {
    FailingHouse there;
    there.house.site.tests_hang = true;
    CHECK(after_blame(there) == "test a-0 a-1 a-2 a-3");
    const std::string test = there.house.site.listing().jobs.back().id;
    CHECK(test.starts_with("test-"));
    there.house.site.finish(test, how);
    there.house.turns(5);
    CHECK(there.house.actions().ends_with(
        "test_nodes verified, requeue_excluding verified, notify verified, start verified"));
    CHECK(there.house.site.calls().size() == 5);
  }
}

TEST_CASE("a test that was lost with its node is no job to start again") {
  FailingHouse there;
  there.house.site.tests_hang = true;
  CHECK(after_blame(there) == "test a-0 a-1 a-2 a-3");
  there.house.site.finish(there.house.site.listing().jobs.back().id, EndState::node_fail);
  there.house.turns(5);
  for (const Action& action : there.house.book() | std::views::values)
    CHECK(!action.call.job.starts_with("test-"));
}

TEST_CASE("a node that failed a test is not drained unless a log has blamed it") {
  FailingHouse there;
  there.house.site.bad = {"a-2"};
  there.house.turns(3);
  Proposal test;
  test.call = {.kind = ActionKind::test_nodes, .nodes = {{"a-2", {}}}};
  test.why = {"somebody wants to know"};
  there.house.tell(Proposed{test});
  there.house.turns(10);
  CHECK(there.house.actions() == "test_nodes verified");
  CHECK(there.house.site.see_node("a-2").state == NodeState::up);
}

TEST_CASE("tests go on after a restart of the program") {
  for (int turns = 60; turns < 80; ++turns) {
    FailingHouse there;
    there.house.site.bad = {"a-2"};
    there.house.site.submit("1", 16).output = "/log";
    there.house.turns(40);
    there.house.site.finish("1", EndState::failed);
    there.house.turns(turns);
    there.house.restart();
    there.house.turns(140);
    INFO("after " << turns << " turns: " << there.house.actions());
    CHECK(there.house.site.see_node("a-2").state == NodeState::drained);
  }
}

// Jobs that hang ---------------------------------------------------------------------------------

/// Job 1 makes steps for a while, then none any more.
struct HangingHouse : FailingHouse {
  explicit HangingHouse(Seconds restart_after) : FailingHouse(settings_with(restart_after)) {
    house.site.submit("1").output = "/log";
    for (int i = 0; i < 20; ++i) {
      step += 10;
      house.turns(30);
    }
  }
  static Settings settings_with(Seconds restart_after) {
    Settings made = testing::ActingDesk::all_act();
    made.waits.hung_restart = restart_after;
    return made;
  }
  std::int64_t told() {
    return std::ranges::count(house.site.calls(), ActionKind::notify, &ActionCall::kind);
  }
};

TEST_CASE("of a job that hangs its owner is told once, also after a restart of the program") {
  HangingHouse there(Seconds(0));
  CHECK(there.told() == 0);
  there.house.turns(600);
  CHECK(there.told() == 1);
  there.house.restart();
  there.house.turns(1200);
  CHECK(there.told() == 1);
  CHECK(there.house.site.see("1").restarts == 0);
  CHECK(there.house.site.see("1").phase == JobPhase::running);
}

TEST_CASE("a job that hangs long enough is restarted where the site says so, within the caps") {
  HangingHouse there(Seconds(1800));
  there.house.turns(1200);
  CHECK(there.house.site.see("1").restarts == 0);
  there.house.restart();
  there.house.turns(1500);
  CHECK(there.house.site.see("1").restarts == 1);
  CHECK(there.told() == 1);
}

TEST_CASE("a job that goes on is no more said to hang") {
  HangingHouse there(Seconds(1800));
  there.house.turns(1200);
  for (int i = 0; i < 80; ++i) {
    there.step += 10;
    there.house.turns(30);
  }
  CHECK(there.house.site.see("1").restarts == 0);
  there.house.turns(600);
  CHECK(there.told() == 2);
}

TEST_CASE("a job is started again as often as the cap allows, and no more at the same step") {
  FailingHouse there;
  there.cause =
      cause_of(FailureClass::infrastructure, Component::storage, Recommendation::restart_same);
  for (int attempt = 1; attempt <= 3; ++attempt) {
    there.step = 100 * attempt;
    there.fail("1");
  }
  CHECK(there.house.site.see("1").restarts == 2);
  CHECK(there.house.actions().ends_with("requeue_excluding waiting, notify verified"));

  FailingHouse stuck;
  stuck.cause = there.cause;
  stuck.step = 100;
  stuck.fail("1");
  stuck.fail("1");
  CHECK(stuck.house.site.see("1").restarts == 1);
  CHECK(stuck.house.actions().ends_with("start verified, notify verified"));
}

TEST_CASE("the requeues of one user's jobs have a cap of their own") {
  Settings settings = testing::ActingDesk::all_act();
  settings.caps.requeues_per_user_hour = 2;
  FailingHouse there(settings);
  there.cause =
      cause_of(FailureClass::infrastructure, Component::storage, Recommendation::restart_same);
  for (const char* const id : {"1", "2", "3"}) there.fail(id);
  CHECK(there.house.site.see("1").restarts == 1);
  CHECK(there.house.site.see("2").restarts == 1);
  CHECK(there.house.site.see("3").restarts == 0);
  there.house.restart();
  there.fail("4");
  CHECK(there.house.site.see("4").restarts == 0);
}

TEST_CASE("a restart of the program repeats no response, and none is lost") {
  for (int turns = 0; turns < 6; ++turns) {
    FailingHouse there;
    there.cause =
        cause_of(FailureClass::infrastructure, Component::storage, Recommendation::restart_same);
    there.house.site.submit("1").output = "/log";
    there.house.turns(40);
    there.house.site.finish("1", EndState::failed);
    there.house.turns(turns);
    there.house.restart();
    there.house.turns(6);
    CHECK(there.house.site.see("1").restarts == 1);
    CHECK(std::ranges::count(there.house.site.calls(), ActionKind::notify, &ActionCall::kind) == 1);
  }
}

TEST_CASE("in shadow nothing leaves, and what would be done is on record") {
  FailingHouse there(testing::ActingDesk::all_in(Mode::shadow));
  there.house.site.submit("1").output = "/log";
  there.house.site.begin("1", {{"a-1", {0, 1, 2, 3}}});
  there.house.turns(3);
  there.house.site.finish("1", EndState::failed);
  there.house.turns(80);
  CHECK(there.house.site.calls().empty());
  CHECK(there.house.actions() ==
        "test_nodes shadowed, requeue_excluding shadowed, notify shadowed");
}

}  // namespace
}  // namespace schedmate::live
