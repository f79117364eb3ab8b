// SPDX-License-Identifier: Apache-2.0
/// Witnesses, caps and the breaker (rules 5 and 6 of acting).
#include <doctest/doctest.h>

#include "live/actions.hpp"
#include "tests/support/acting_desk.hpp"

namespace schedmate::live {
namespace {

using RulesDesk = testing::ActingDesk;

Settings with_caps(Caps caps) {
  Settings made = RulesDesk::all_act();
  made.caps = caps;
  return made;
}

ActionCall cancel_of(RulesDesk& desk, const std::string& job) {
  return testing::call_of(ActionKind::cancel, desk.site.submit(job));
}

/// The states that drains of these nodes get, one after the other; "" where there is none.
std::vector<std::string> drain_all(RulesDesk& desk, int from, int to) {
  std::vector<std::string> states;
  for (int i = from; i < to; ++i) {
    const auto id = desk.propose(testing::sure_drain("a-" + std::to_string(i), desk.now()));
    states.emplace_back(id ? name_of(desk.state(*id)) : "");
    desk.turn();
  }
  return states;
}
using Words = std::vector<std::string>;

// Modes ------------------------------------------------------------------------------------------

TEST_CASE("what waits is discarded where another mode plans it anew") {
  for (const Mode mode : {Mode::act, Mode::shadow, Mode::observe}) {
    RulesDesk desk(40, RulesDesk::all_in(Mode::approve));
    const SeenJob job = desk.site.submit("1");
    const auto start = desk.propose({.call = testing::call_of(ActionKind::start, job)}).value();
    desk.restart(RulesDesk::all_in(mode));
    CHECK(desk.way(start) == "planned waiting discarded");
    CHECK(desk.action(start).steps.back().note == "the mode is another one now");
  }
}

TEST_CASE("what nobody would plan anew goes on waiting, unless nothing leaves any more") {
  RulesDesk desk(40, RulesDesk::all_in(Mode::approve));
  const SeenJob job = desk.site.submit("1");
  const auto requeue =
      desk.propose({.call = testing::call_of(ActionKind::requeue_excluding, job)}).value();
  const auto told = desk.propose({.call = {.kind = ActionKind::notify, .text = "x"}}).value();
  const auto drain = desk.propose(testing::sure_drain("a-1", desk.now())).value();
  for (const Mode mode : {Mode::approve, Mode::act}) {
    desk.restart(RulesDesk::all_in(mode));
    for (const auto id : {requeue, told, drain}) CHECK(desk.way(id) == "planned waiting");
  }
  desk.restart(RulesDesk::all_in(Mode::shadow));
  for (const auto id : {requeue, told, drain}) CHECK(desk.way(id) == "planned waiting discarded");
}

TEST_CASE("what waits over a cap waits in approve, too") {
  RulesDesk desk(100, with_caps({.drained_nodes_max = 2, .breaker_pct = 50}));
  REQUIRE(drain_all(desk, 0, 3).back() == "waiting");
  desk.restart(RulesDesk::all_in(Mode::approve));
  CHECK(desk.state(3) == ActionState::waiting);
}

// Two witnesses (rule 5) -------------------------------------------------------------------------

TEST_CASE("one witness drains no node, nor do two words of the same one") {
  RulesDesk desk(40);
  Proposal proposal = testing::sure_drain("a-1", desk.now());
  proposal.witnesses.resize(1);
  CHECK(!desk.propose(proposal));
  proposal.witnesses.push_back(proposal.witnesses.front());
  CHECK(!desk.propose(proposal));
  CHECK(desk.actions().counts().unwitnessed == 2);
  proposal.witnesses.push_back({"scheduler", "a-1", desk.now(), "not responding"});
  CHECK(desk.propose(proposal));
}

TEST_CASE("a witness of another node, or of long ago, counts for nothing") {
  RulesDesk desk(40);
  Proposal proposal = testing::sure_drain("a-1", desk.now());
  proposal.witnesses.back().node = "a-2";
  CHECK(!desk.propose(proposal));
  proposal.witnesses.back() = {"gpu", "a-1", desk.now() - Seconds(601), "a GPU is gone"};
  CHECK(!desk.propose(proposal));
  proposal.witnesses.back().when = desk.now() - Seconds(600);
  CHECK(desk.propose(proposal));
}

TEST_CASE("a log, which anybody can write, and an error that may have done no harm drain no node") {
  RulesDesk desk(40);
  Proposal proposal = testing::sure_drain("a-1", desk.now());
  proposal.witnesses = {{"log", "a-1", desk.now(), "NCCL error"},
                        {"gpu", "a-1", desk.now(), "an NVLink went down", false, true}};
  CHECK(!desk.propose(proposal));
  proposal.witnesses.push_back({"gpu", "a-2", desk.now(), "a GPU is gone"});
  CHECK(!desk.propose(proposal));
  Proposal other = proposal;
  other.witnesses.push_back({"kernel", "a-1", desk.now(), "Xid 74", true});  // a link that flaps
  CHECK(!desk.propose(other));
  other.witnesses.push_back({"kernel", "a-1", desk.now(), "Xid 79"});
  CHECK(desk.propose(other));
  proposal.call.nodes = {{"a-3", {}}};
  proposal.witnesses = {{"log", "a-3", desk.now(), "NCCL error"},
                        {"test", "a-3", desk.now(), "failed"}};
  CHECK(desk.propose(proposal));
}

TEST_CASE("a job is sent elsewhere only on two witnesses of each node; on the same ones, on none") {
  RulesDesk desk(40);
  const SeenJob job = desk.site.submit("1");
  Proposal proposal{.call = testing::call_of(ActionKind::requeue_excluding, job)};
  proposal.call.nodes = {{"a-1", {}}, {"a-2", {}}};
  proposal.witnesses = testing::sure_drain("a-1", desk.now()).witnesses;
  CHECK(!desk.propose(proposal));
  for (const NodeWitness& each : testing::sure_drain("a-2", desk.now()).witnesses)
    proposal.witnesses.push_back(each);
  CHECK(desk.propose(proposal));
  CHECK(desk.propose(
      {.call = testing::call_of(ActionKind::requeue_excluding, desk.site.submit("2"))}));
}

TEST_CASE("what the witnesses said is kept with the action") {
  RulesDesk desk(40);
  const auto id = desk.propose(testing::sure_drain("a-1", desk.now())).value();
  CHECK(desk.action(id).why == std::vector<std::string>{"the node lost a GPU",
                                                        "kernel of a-1: Xid 79",
                                                        "gpu of a-1: a GPU is gone"});
}

TEST_CASE("plant: without two_witnesses, a rumour drains a node") {
  RulesDesk desk(40, RulesDesk::without(&Rules::two_witnesses));
  CHECK(desk.propose({.call = testing::drain_of("a-1")}));
}

// Caps (rule 6) ----------------------------------------------------------------------------------

TEST_CASE("over the cap of drained nodes an operator decides") {
  RulesDesk desk(100, with_caps({.drained_nodes_max = 2, .breaker_pct = 50}));
  CHECK(drain_all(desk, 0, 3) == Words{"intended", "intended", "waiting"});
  CHECK(desk.actions().counts().capped == 1);
  CHECK(desk.action(3).steps.back().note == "over the cap of 2 drained nodes");
  CHECK(desk.approve(3));
  desk.turn();
  CHECK(desk.state(3) == ActionState::verified);
}

TEST_CASE("percentages of nodes are rounded up, to at least one") {
  RulesDesk few(10, with_caps({.drained_nodes_max = 9, .drained_pct_max = 1, .breaker_pct = 50}));
  CHECK(drain_all(few, 0, 2) == Words{"intended", "waiting"});
  RulesDesk more(21, with_caps({.drained_nodes_max = 9, .drained_pct_max = 5, .breaker_pct = 50}));
  CHECK(drain_all(more, 0, 3) == Words{"intended", "intended", "waiting"});
}

TEST_CASE("a node that serves again makes room under the cap") {
  RulesDesk desk(100, with_caps({.drained_nodes_max = 1, .breaker_pct = 50}));
  CHECK(drain_all(desk, 0, 1) == Words{"intended"});
  CHECK(desk.undo(1));
  desk.turn();
  CHECK(drain_all(desk, 1, 3) == Words{"intended", "waiting"});
}

TEST_CASE("the cap of a node: once somebody put it back, an operator decides, for a day") {
  RulesDesk desk(100, with_caps({.drained_nodes_max = 9, .breaker_pct = 50}));
  CHECK(drain_all(desk, 0, 1) == Words{"intended"});
  CHECK(drain_all(desk, 0, 1) == Words{""});  // one at a time
  desk.site.change_node("a-0") = {"a-0", "a", 4, NodeState::up, ""};
  desk.turn();
  desk.restart();
  desk.turn();
  CHECK(drain_all(desk, 0, 2) == Words{"waiting", "intended"});
  CHECK(desk.action(2).steps.back().note ==
        "somebody put this node back into service since SchedMate drained it");
  CHECK(desk.reject(2));
  desk.pass(Seconds(86'400));
  CHECK(drain_all(desk, 0, 1) == Words{"intended"});
}

TEST_CASE("the cap of drained nodes counts those of an earlier process") {
  RulesDesk desk(100, with_caps({.drained_nodes_max = 1, .breaker_pct = 50}));
  CHECK(drain_all(desk, 0, 1) == Words{"intended"});
  desk.restart();
  desk.turn();
  CHECK(drain_all(desk, 1, 2) == Words{"waiting"});
}

TEST_CASE("over the cap of actions an hour an operator decides, and the hour goes by") {
  RulesDesk desk(4, with_caps({.actions_per_hour = 2}));
  const auto first = desk.propose({.call = cancel_of(desk, "1")}).value();
  const auto second = desk.propose({.call = cancel_of(desk, "2")}).value();
  const auto third = desk.propose({.call = cancel_of(desk, "3")}).value();
  CHECK(desk.state(first) == ActionState::intended);
  CHECK(desk.state(second) == ActionState::intended);
  CHECK(desk.state(third) == ActionState::waiting);
  desk.restart();
  const auto fourth = desk.propose({.call = cancel_of(desk, "4")}).value();
  CHECK(desk.state(fourth) == ActionState::waiting);
  desk.pass(Seconds(3600));
  const auto fifth = desk.propose({.call = cancel_of(desk, "5")}).value();
  CHECK(desk.state(fifth) == ActionState::intended);
}

TEST_CASE("what disturbs nobody is not counted") {
  RulesDesk desk(4, with_caps({.actions_per_hour = 0}));
  const auto order = desk.propose({.call = testing::order_of(desk.site.submit("1"), 1)}).value();
  CHECK(desk.state(order) == ActionState::intended);
  const auto cancel = desk.propose({.call = cancel_of(desk, "2")}).value();
  CHECK(desk.state(cancel) == ActionState::waiting);
}

TEST_CASE("over the cap of requeues of a job an operator decides") {
  RulesDesk desk(4, with_caps({.requeues_per_job = 2}));
  SeenJob job = desk.site.submit("1");
  job.restarts = 1;
  const auto second = desk.propose({.call = testing::call_of(ActionKind::requeue_excluding, job)});
  CHECK(desk.state(second.value()) == ActionState::intended);
  job = desk.site.submit("2");
  job.restarts = 2;
  const auto third = desk.propose({.call = testing::call_of(ActionKind::requeue_excluding, job)});
  CHECK(desk.state(third.value()) == ActionState::waiting);
}

TEST_CASE("plant: without caps, all nodes could be drained") {
  RulesDesk desk(100, RulesDesk::without(&Rules::caps,
                                         with_caps({.drained_nodes_max = 1, .breaker_pct = 50})));
  CHECK(drain_all(desk, 0, 3) == Words{"intended", "intended", "intended"});
}

// The breaker (rule 6) ---------------------------------------------------------------------------

TEST_CASE("the breaker opens at its share of bad nodes, at least three") {
  RulesDesk few(10, with_caps({.drained_nodes_max = 9, .drained_pct_max = 90}));
  CHECK(drain_all(few, 0, 4) == Words{"intended", "intended", "", ""});
  CHECK(few.actions().breaker_open());
  RulesDesk more(81, with_caps({.drained_nodes_max = 9, .drained_pct_max = 90}));
  CHECK(drain_all(more, 0, 6) ==
        Words{"intended", "intended", "intended", "intended", "", ""});  // 5 % are 4.05
  REQUIRE(more.remarks().size() == 1);
  CHECK(more.remarks().front().what == "breaker opened");
  CHECK(more.remarks().front().note == "5 nodes are said to be bad");
}

TEST_CASE("the same bad node again and again does not open the breaker") {
  RulesDesk desk(40);
  for (int i = 0; i < 5; ++i) desk.propose(testing::sure_drain("a-1", desk.now()));
  desk.turn();
  CHECK(!desk.actions().breaker_open());
}

TEST_CASE("the breaker discards what waits, and stops what disturbs") {
  RulesDesk desk(40, with_caps({.drained_nodes_max = 1}));
  CHECK(drain_all(desk, 0, 3) == Words{"intended", "waiting", ""});
  CHECK(desk.way(2) == "planned waiting discarded");
  CHECK(!desk.propose({.call = cancel_of(desk, "1")}));
  CHECK(desk.actions().counts().stopped == 2);
  CHECK(desk.propose({.call = testing::order_of(desk.site.submit("2"), 5)}));
  desk.turn();
  CHECK(desk.site.see("2").order == 5);
}

TEST_CASE("the breaker opens at a burst of proposals, and not at as many in an hour") {
  RulesDesk desk(40, with_caps({.actions_per_hour = 100, .burst = 5}));
  int number = 0;
  const auto cancels = [&](int count, Seconds pause) {
    for (int i = 0; i < count; ++i) {
      (void)desk.propose({.call = cancel_of(desk, std::to_string(++number))});
      desk.pass(pause);
    }
  };
  cancels(20, Seconds(13));
  CHECK(!desk.actions().breaker_open());
  cancels(6, Seconds(1));
  CHECK(desk.actions().breaker_open());
  CHECK(desk.remarks().back().note == "6 proposals within a minute");
}

TEST_CASE("the breaker is closed by hand") {
  RulesDesk desk(40, with_caps({.drained_nodes_max = 9, .drained_pct_max = 90}));
  drain_all(desk, 0, 3);
  REQUIRE(desk.actions().breaker_open());
  desk.close_breaker();
  CHECK(!desk.actions().breaker_open());
  CHECK(desk.remarks().back().what == "breaker closed");
  CHECK(desk.remarks().back().by == "olga");
  CHECK(desk.propose({.call = cancel_of(desk, "1")}));
}

TEST_CASE("the breaker closes after a quiet time, and each attempt makes it longer") {
  RulesDesk desk(40);
  drain_all(desk, 0, 3);
  REQUIRE(desk.actions().breaker_open());
  desk.pass(Seconds(3599));
  CHECK(desk.actions().breaker_open());
  CHECK(!desk.propose({.call = cancel_of(desk, "1")}));
  desk.pass(Seconds(3599));
  CHECK(desk.actions().breaker_open());
  desk.pass(Seconds(1));
  CHECK(!desk.actions().breaker_open());
  CHECK(desk.remarks().back().by == "schedmate");
}

TEST_CASE("the breaker stays open over a restart") {
  RulesDesk desk(40);
  drain_all(desk, 0, 3);
  desk.restart();
  CHECK(desk.actions().breaker_open());
  CHECK(!desk.propose({.call = cancel_of(desk, "1")}));
}

TEST_CASE("bad nodes of an earlier process count for the breaker") {
  RulesDesk desk(40);
  drain_all(desk, 0, 2);
  desk.restart();
  desk.turn();
  drain_all(desk, 2, 3);
  CHECK(desk.actions().breaker_open());
}

TEST_CASE("shadow counts nothing: no breaker opens for what nobody does") {
  Settings settings = RulesDesk::all_act();
  settings.modes.recover = Mode::shadow;
  RulesDesk desk(40, settings);
  CHECK(drain_all(desk, 0, 6) == Words(6, "shadowed"));
  CHECK(!desk.actions().breaker_open());
}

TEST_CASE("plant: without the breaker, a rack is drained on one day") {
  RulesDesk desk(40, RulesDesk::without(&Rules::breaker, with_caps({.drained_nodes_max = 99,
                                                                    .drained_pct_max = 99})));
  CHECK(drain_all(desk, 0, 10) == Words(10, "intended"));
}

TEST_CASE("what the journal keeps of caps may be damaged: it is left out") {
  for (const char* past : {"", "{", "[]", "{\"disturbed_s\": 5}", "{\"bad\": [1, {\"s\": \"x\"}]}",
                           "{\"lifted\": [1]}", "{\"bad\": [{\"s\": 1, \"node\": 7}]}",
                           "{\"lifted\": 3, \"breaker_since_s\": \"x\"}"}) {
    INFO(std::string(past));
    CHECK_NOTHROW(
        Actions(RulesDesk::all_act(), {.open = {}, .next_id = 1, .past = past, .now = at(0)}));
  }
}

}  // namespace
}  // namespace schedmate::live
