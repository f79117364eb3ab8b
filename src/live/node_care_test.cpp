// SPDX-License-Identifier: Apache-2.0
/// Tests that may return nodes, spares, what tests have left, single witnesses, and what a
/// controller that was killed has forgotten, and what came before the journal: in the loop.
#include "live/node_care.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "tests/support/failing_house.hpp"
#include "tests/support/live_house.hpp"

namespace schedmate::live {
namespace {

using testing::cause_of;
using testing::FailingHouse;

live::Settings acting(Seconds return_after = Seconds(0)) {
  live::Settings made = testing::ActingDesk::all_act();
  made.waits.return_after = return_after;
  made.waits.witness = Seconds(5);
  return made;
}

struct Ward {
  explicit Ward(const live::Settings& settings = acting()) : house(8, settings) { house.turns(2); }
  void hear(const char* source, const std::string& node, bool may_pass = false) {
    house.tell(Witnessed{{source, node, house.site.now(), "bad", may_pass}});
    house.turns(2);
  }
  [[nodiscard]] NodeState state(const std::string& node) { return house.site.see_node(node).state; }
  testing::LiveHouse house;
};

TEST_CASE("a node that one witness alone speaks against is tested, and drained if it fails") {
  Ward well;
  well.hear("gpu", "a-1");
  CHECK(well.house.actions().empty());
  well.house.turns(5);
  CHECK(well.house.actions() == "test_nodes verified");
  CHECK(well.state("a-1") == NodeState::up);
  Ward ill;
  ill.house.site.bad = {"a-1"};
  ill.hear("gpu", "a-1");
  ill.house.turns(8);
  CHECK(ill.house.actions() == "test_nodes verified, drain_node verified");
  const std::vector<std::string>& why = ill.house.book().at(2).why;
  REQUIRE(why.size() == 3);
  CHECK(why[0] == "rule one_witness");
  CHECK(why[1] == "gpu of a-1: bad");
  CHECK(why[2].starts_with("test of a-1: failed: job test-"));
  CHECK(ill.house.site.see_node("a-1").reason.ends_with(" bad"));
}

TEST_CASE("nobody is tested while a job runs there, or where a second witness comes first") {
  Ward busy;
  busy.house.site.submit("1", 32);
  busy.hear("gpu", "a-1");
  busy.house.turns(20);
  CHECK(busy.house.actions() == "start verified");
  busy.house.site.finish("1");
  busy.house.turns(3);
  CHECK(busy.house.actions() == "start verified, test_nodes verified");
  Ward two;
  two.hear("gpu", "a-1");
  two.hear("kernel", "a-1");
  two.house.turns(10);
  CHECK(two.house.actions() == "drain_node verified");
}

TEST_CASE("who agrees while the node is tested, or while its test waits, drains it") {
  Ward there;
  there.house.site.tests_hang = true;
  there.hear("gpu", "a-1");
  there.house.turns(8);
  there.hear("kernel", "a-1");
  CHECK(there.house.actions() == "test_nodes called");
  there.house.site.finish(there.house.site.listing().jobs.back().id);
  there.house.turns(3);
  CHECK(there.house.actions() == "test_nodes verified, drain_node verified");
  live::Settings asking = acting();
  asking.modes.recover = Mode::approve;
  Ward slow(asking);
  slow.hear("gpu", "a-1");
  slow.house.turns(8);
  CHECK(slow.house.actions() == "test_nodes waiting");
  slow.hear("kernel", "a-1");
  CHECK(slow.house.actions() == "test_nodes discarded, drain_node waiting");
}

TEST_CASE("in shadow a drain is on record once, however often probes say the same") {
  live::Settings settings = acting();
  settings.modes = testing::ActingDesk::all_in(Mode::shadow).modes;
  Ward ward(settings);
  for (int i = 0; i < 20; ++i) {
    ward.hear("gpu", "a-1");
    ward.hear("kernel", "a-1");
  }
  ward.hear("gpu", "a-2");
  ward.hear("kernel", "a-2");
  CHECK(ward.house.actions() == "drain_node shadowed, drain_node shadowed");
}

TEST_CASE("of a link that flaps the second alert within five minutes counts") {
  Ward one;
  one.hear("kernel", "a-1", true);
  one.house.turns(30);
  CHECK(one.house.actions().empty());
  one.house.turns(10, Seconds(60));
  one.hear("kernel", "a-1", true);  // another first one
  one.house.turns(30);
  CHECK(one.house.actions().empty());
  one.hear("kernel", "a-1", true);
  one.house.turns(10);
  CHECK(one.house.actions() == "test_nodes verified");
}

TEST_CASE("a test that could not be made says nothing") {
  for (const auto& [code, signal] : {std::pair(127, 0), {126, 0}, {75, 0}, {0, 9}, {137, 0}}) {
    Ward there;
    there.house.site.tests_hang = true;
    there.hear("gpu", "a-1");
    there.house.turns(8);
    SeenJob& test = there.house.site.change(there.house.site.listing().jobs.back().id);
    test.exit_code = code;
    test.exit_signal = signal;
    there.house.site.finish(test.id, EndState::failed);
    there.house.turns(3);
    CHECK(there.house.actions() == "test_nodes verified");
    CHECK(there.house.book().at(1).steps.back().note.starts_with("it says nothing"));
  }
}

/// A node drained for two witnesses.
void drain(Ward& there, const std::string& node) {
  there.hear("gpu", node);
  there.hear("kernel", node);
  CHECK(there.state(node) == NodeState::drained);
}

TEST_CASE("a drained node that passes its test returns, and another one after twice as long") {
  Ward there(acting(Seconds(100)));
  there.house.site.bad = {"a-1"};
  drain(there, "a-1");
  there.house.turns(120);
  CHECK(there.house.actions() == "drain_node verified, test_nodes verified");
  CHECK(there.house.book().at(2).call.text == "schedmate:here/1");
  CHECK(there.state("a-1") == NodeState::drained);
  there.house.site.bad = {};
  there.house.turns(150);
  CHECK(there.state("a-1") == NodeState::drained);
  there.house.turns(80);
  CHECK(there.house.actions() ==
        "drain_node undone, test_nodes verified, test_nodes verified, undrain_node verified");
  CHECK(there.state("a-1") == NodeState::up);
}

TEST_CASE(
    "what a person drained, or drained anew, does not return, nor where a witness still speaks") {
  Ward there(acting(Seconds(100)));
  drain(there, "a-1");
  there.house.site.change_node("a-2").state = NodeState::drained;
  there.house.site.change_node("a-2").reason = "fan is loud";
  there.house.site.change_node("a-1").reason = "mine, now";
  there.house.turns(300);
  CHECK(there.house.actions() == "drain_node superseded");
  Ward ill(acting(Seconds(100)));
  drain(ill, "a-1");
  for (int i = 0; i < 10; ++i) {
    ill.house.turns(50);
    ill.hear("gpu", "a-1");
  }
  CHECK(ill.house.actions() == "drain_node verified");
}

TEST_CASE("a person who decides about the node during its test wins") {
  Ward there(acting(Seconds(100)));
  there.house.site.tests_hang = true;
  drain(there, "a-1");
  there.house.turns(110);
  CHECK(there.house.actions() == "drain_node verified, test_nodes called");
  there.house.site.change_node("a-1").state = NodeState::up;
  there.house.site.change_node("a-1").reason = "";
  there.house.turns(2);
  there.house.site.finish(there.house.site.listing().jobs.back().id);
  there.house.turns(5);
  CHECK(there.house.actions() == "drain_node superseded, test_nodes verified");
}

TEST_CASE("one spare node is released for one that is drained") {
  live::Settings settings = acting();
  settings.can_release_spare = true;
  settings.caps.drained_nodes_max = 8;
  settings.caps.drained_pct_max = 100;
  Ward there(settings);
  there.house.site.change_node("a-6").spare = true;
  there.house.site.change_node("a-7").spare = true;
  drain(there, "a-1");
  there.house.turns(3);
  CHECK(there.house.actions() == "drain_node verified, release_spare verified");
  CHECK(there.house.book().at(2).call.nodes == std::vector<NodeGpus>{{"a-6", {}}});
  there.house.turns(5);
  there.house.restart();
  there.house.turns(5);
  CHECK(there.house.actions() == "drain_node verified, release_spare verified");
  drain(there, "a-2");
  there.house.turns(3);
  CHECK(!there.house.site.see_node("a-7").spare);
}

TEST_CASE("what a test has left is removed when it is over, also by another process") {
  Ward there;
  there.hear("gpu", "a-1");
  there.house.turns(10);
  const std::vector<std::string> once{"schedmate:here/1"};
  CHECK(there.house.site.ended_tests == once);
  CHECK(there.house.remarks.back().note == "what it has left is removed: schedmate:here/1");
  // Of an action that the journal knows no more; never that of another daemon.
  there.house.site.tests = {"schedmate:here/1", "schedmate:there/1", "schedmate:here/x"};
  there.house.restart();
  there.house.site.change_node("a-1");
  there.house.turns(3);
  CHECK(there.house.site.ended_tests == std::vector<std::string>{once[0], once[0]});
}

TEST_CASE("while a test runs nothing of it is removed") {
  Ward there;
  there.house.site.tests_hang = true;
  there.hear("gpu", "a-1");
  there.house.turns(20);
  CHECK(there.house.site.ended_tests.empty());
  there.house.turns(700);  // it does not come to its end
  CHECK(there.house.actions() == "test_nodes failed");
  CHECK(there.house.site.ended_tests.size() == 1);
}

TEST_CASE(
    "a drain that a killed controller forgot is planned anew; one that a person lifted is not") {
  Ward there;
  drain(there, "a-1");
  there.house.site.began = there.house.site.now() + Seconds(3);
  there.house.site.change_node("a-1").state = NodeState::up;
  there.house.site.change_node("a-1").reason = "";
  there.house.turns(5);
  CHECK(there.house.actions() == "drain_node superseded, drain_node verified");
  CHECK(there.house.book().at(2).call.text == "schedmate:here/2 bad");
  // Long after the controller began.
  there.house.turns(100);
  there.house.site.change_node("a-1").state = NodeState::up;
  there.house.site.change_node("a-1").reason = "";
  there.house.turns(5);
  there.hear("gpu", "a-1");
  CHECK(there.house.actions() ==
        "drain_node superseded, drain_node superseded, drain_node waiting");
}

TEST_CASE("a restart that a killed controller forgot is made again, as another action") {
  FailingHouse there;
  there.cause =
      cause_of(FailureClass::infrastructure, Component::storage, Recommendation::restart_same);
  there.step = 100;
  there.fail("1");
  REQUIRE(there.house.site.see("1").restarts == 1);
  const std::string before = there.house.actions();
  there.house.turns(1);
  // It shows the job as it had failed, and knows of no restart.
  SeenJob& job = there.house.site.change("1");
  job.restarts = 0;
  there.house.site.finish("1", EndState::failed);
  there.house.turns(5);
  CHECK(there.house.site.see("1").restarts == 1);
  const std::string actions = there.house.actions();
  CHECK(actions.starts_with(before));
  CHECK(actions.substr(before.size()).contains("requeue_excluding verified"));
  const auto& book = there.house.book();
  const auto again = std::ranges::find_if(book, [](const auto& each) {
    return std::ranges::find(each.second.why,
                             "the cluster has forgotten that it was started again") !=
           each.second.why.end();
  });
  CHECK(again != book.end());
}

TEST_CASE("what had failed before there was a record is left to people") {
  FailingHouse there;
  there.house.site.submit("1").output = "/log";
  there.house.site.begin("1", {{"a-0", {0, 1, 2, 3}}});
  there.house.site.finish("1", EndState::failed);
  there.house.site.pass(Seconds(5));
  there.house.turns(300);
  CHECK(there.house.actions().empty());
  CHECK(there.house.loop().lives().find("1")->cause);  // it is explained to who asks
  there.house.restart();
  there.house.turns(300);
  CHECK(there.house.actions().empty());
  there.fail("2");
  there.house.turns(100);
  CHECK(there.house.actions().contains("requeue_excluding verified"));
}

TEST_CASE("when it stops acting one message says so") {
  live::Settings settings = acting();
  settings.caps.drained_nodes_max = 1;
  Ward there(settings);
  for (const char* node : {"a-0", "a-1", "a-2", "a-3", "a-4"}) {
    there.hear("gpu", node);
    there.hear("kernel", node);
  }
  there.house.turns(3);
  CHECK(there.house.actions() == "drain_node verified, drain_node discarded, notify verified");
  CHECK(there.house.book().at(3).call.user == "root");
  CHECK(there.house.book().at(3).call.text.contains("3 nodes are said to be bad"));
  CHECK(there.house.loop().actions().breaker_open());
}

}  // namespace
}  // namespace schedmate::live
