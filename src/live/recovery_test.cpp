// SPDX-License-Identifier: Apache-2.0
#include "live/recovery.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <ranges>
#include <string>

#include "tests/support/failing_house.hpp"

namespace schedmate::live {
namespace {

using testing::cause_of;
using testing::FailingHouse;

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

TEST_CASE(
    "a node that the site's own check took out of service has a witness, a person's has none") {
  for (const bool by_check : {true, false}) {
    FailingHouse there;
    there.house.site.submit("1").output = "/log";
    there.house.turns(3);
    const std::string node = there.house.site.see("1").nodes.front().node;
    there.house.site.change_node(node).state = NodeState::drained;
    there.house.site.change_node(node).reason = "Epilog error";
    there.house.site.change_node(node).failed_check = by_check;
    there.house.site.finish("1", EndState::failed);
    there.house.turns(5);
    CHECK((there.house.actions() == "start verified") == !by_check);
    if (!by_check) continue;
    CHECK(there.house.actions().starts_with(
        "start verified, requeue_excluding verified, notify verified"));
    CHECK(there.house.book().at(2).call.nodes == std::vector<NodeGpus>{{node, {}}});
    CHECK(std::ranges::count(there.house.book().at(2).why, "site of " + node + ": Epilog error") ==
          1);
  }
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

TEST_CASE("a log and an error that may have done no harm: the node goes as its test says") {
  for (const bool bad : {false, true}) {
    FailingHouse there;
    if (bad) there.house.site.bad = {"a-0"};
    there.house.site.submit("1").output = "/log";
    there.house.turns(3);
    REQUIRE(there.house.site.see("1").nodes.front().node == "a-0");
    there.house.site.finish("1", EndState::failed);
    there.house.tell(
        Witnessed{{"gpu", "a-0", there.house.site.now(), "new memory errors", false, true}});
    there.house.turns(10);
    CHECK(there.house.actions() == "start verified");
    there.house.turns(100);
    CHECK(there.house.actions().starts_with(
        "start verified, test_nodes verified, requeue_excluding verified, notify verified"));
    CHECK(there.house.book().at(3).call.nodes == std::vector<NodeGpus>{{"a-0", {}}});
    CHECK((there.house.site.see_node("a-0").state == NodeState::drained) == bad);
    if (!bad) continue;
    const auto drain = std::ranges::find(there.house.book(), ActionKind::drain_node,
                                         [](const auto& each) { return each.second.call.kind; });
    REQUIRE(drain != there.house.book().end());
    const auto& why = drain->second.why;
    CHECK(std::ranges::count(why, "gpu of a-0: new memory errors") == 1);
    CHECK(std::ranges::count(why, "log of a-0: what the log says") == 1);
    CHECK(why.back().starts_with("test of a-0: failed"));
  }
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

TEST_CASE(
    "two witnesses that may both be harmless have the node tested, and it goes as that says") {
  for (const bool bad : {false, true}) {
    FailingHouse there;
    if (bad) there.house.site.bad = {"a-1"};
    there.house.turns(2);
    const auto hear = [&](const char* source, bool flaps) {
      there.house.tell(Witnessed{{source, "a-1", there.house.site.now(), "bad", flaps, !flaps}});
      there.house.turns(2);
    };
    hear("gpu", false);    // an NVLink was counted as down
    hear("kernel", true);  // and flapped
    hear("kernel", true);  // twice
    CHECK(there.house.actions().empty());
    there.house.turns(100);
    CHECK(there.house.actions() ==
          (bad ? "test_nodes verified, drain_node verified" : "test_nodes verified"));
    CHECK((there.house.site.see_node("a-1").state == NodeState::drained) == bad);
  }
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
  CHECK(after_blame(together) ==
        "test a-0 a-1 a-2 a-3, test a-0 a-1, test a-2 a-3, test a-0 a-2, test a-1 a-3, test a-0 "
        "a-3, test a-1 a-2, test a-1, test a-2, test a-1 a-6, test a-2 a-7");
  CHECK(std::ranges::any_of(together.house.remarks, [](const journal::Remark& each) {
    return each.note.starts_with("what lies between a-1 and a-2");
  }));
}

TEST_CASE("nodes are kept from others until the next test of them has begun") {
  FailingHouse there;
  there.house.site.bad_together = {"a-1", "a-2"};
  // One partner is left, so that one of the last two tests waits for the other's.
  for (const char* taken : {"a-4", "a-5", "a-6"})
    there.house.site.change_node(taken).state = NodeState::drained;
  after_blame(there);
  there.house.turns(200);
  const auto& calls = there.house.site.calls();
  const auto& ended = there.house.site.ended_tests;
  CHECK(ended.size() >= 11);
  for (std::size_t i = 0; i < ended.size(); ++i) {
    const auto test = std::ranges::find(calls, ended[i], &ActionCall::token);
    REQUIRE(test != calls.end());
    const auto shares_a_node = [&](const ActionCall& later) {
      return later.kind == ActionKind::test_nodes &&
             std::ranges::find_first_of(later.nodes, test->nodes, {}, &NodeGpus::node,
                                        &NodeGpus::node) != later.nodes.end();
    };
    const auto next = std::find_if(test + 1, calls.end(), shares_a_node);
    if (next == calls.end()) continue;
    CHECK(static_cast<std::size_t>(next - calls.begin()) < there.house.site.calls_before_end[i]);
  }
  CHECK(there.house.site.tests.empty());
}

TEST_CASE(
    "a node that passes alone and fails with others is found by a good partner, itself tested") {
  const auto after = [](std::vector<std::string> pairs_bad) {
    FailingHouse there;
    there.house.site.bad_pairs = std::move(pairs_bad);
    return after_blame(there);
  };
  const std::string before =
      "test a-0 a-1 a-2 a-3, test a-0 a-1, test a-2 a-3, test a-0, test a-1, test a-0 a-6, test "
      "a-1 "
      "a-7";
  CHECK(after({"a-1"}) == before + ", test a-7, drain a-1");
  CHECK(after({"a-0", "a-1"}) == before);
}

TEST_CASE("a good partner with which the test does not come to its end is replaced by another") {
  FailingHouse there;
  there.house.site.bad_pairs = {"a-1"};
  there.house.site.test_hangs_on = "a-7";
  after_blame(there);
  there.house.turns(1200);
  std::vector<std::string> with_a_1;
  for (const ActionCall& call : there.house.site.calls())
    if (call.kind == ActionKind::test_nodes && call.nodes.size() == 2 &&
        call.nodes.front().node == "a-1")
      with_a_1.push_back(call.nodes.back().node);
  CHECK(with_a_1 == std::vector<std::string>{"a-7", "a-6"});
  CHECK(there.house.site.see_node("a-1").state == NodeState::drained);
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
