// SPDX-License-Identifier: Apache-2.0
/// Undo, marks, and who wins (rules 4 and 7 of acting).
#include <doctest/doctest.h>

#include "live/actions.hpp"
#include "tests/support/acting_desk.hpp"

namespace schedmate::live {
namespace {

using UndoDesk = testing::ActingDesk;

std::int64_t done(UndoDesk& desk, Proposal proposal) {
  const auto id = desk.propose(std::move(proposal)).value();
  desk.turn();
  REQUIRE(desk.state(id) == ActionState::verified);
  return id;
}
std::int64_t drained(UndoDesk& desk, const std::string& node) {
  return done(desk, testing::sure_drain(node, desk.now()));
}
/// A new job.
std::int64_t held(UndoDesk& desk, const std::string& job) {
  return done(desk, {.call = testing::call_of(ActionKind::hold, desk.site.submit(job))});
}
/// Holds end by themselves after that time.
Settings hold_for(Seconds time) {
  Settings made = UndoDesk::all_act();
  made.waits.hold = time;
  return made;
}
void human_drains(UndoDesk& desk, const std::string& node) {
  desk.site.change_node(node) = {node, "a", 4, NodeState::drained, "bob: new fans"};
}
/// Undone, and by whom.
void undo(UndoDesk& desk, std::int64_t id) {
  const auto by = desk.undo(id);
  REQUIRE(by);
  CHECK(desk.action(*by).undoes == id);
  CHECK(desk.action(*by).steps.front().by == "olga");
  desk.turn();
  CHECK(desk.way(*by) == "planned intended called verified");
  CHECK(desk.way(id) == "planned intended called verified undone");
}

TEST_CASE("undo of a drain: the node serves again, and its reason is gone") {
  UndoDesk desk(40);
  const auto id = drained(desk, "a-1");
  CHECK(desk.site.see_node("a-1").reason == "schedmate:here/1 Xid 79");
  undo(desk, id);
  CHECK(desk.site.see_node("a-1").state == NodeState::up);
  CHECK(desk.site.see_node("a-1").reason.empty());
}

TEST_CASE("undo of a drain is no sign that somebody else lifted it: it may be drained again") {
  UndoDesk desk(40);
  undo(desk, drained(desk, "a-1"));
  CHECK(drained(desk, "a-1") == 3);
}

TEST_CASE("undo of a hold: the job may start") {
  UndoDesk desk(4);
  const auto id = held(desk, "1");
  CHECK(desk.site.see("1").held);
  undo(desk, id);
  CHECK(!desk.site.see("1").held);
}

TEST_CASE("undo of an order: the order before") {
  UndoDesk desk(4);
  desk.site.submit("1").order = -3;
  undo(desk,
       done(desk, {.call = testing::order_of(desk.site.see("1"), 5), .why = {}, .before = "-3"}));
  CHECK(desk.site.see("1").order == -3);
}

TEST_CASE("undo of a note: the text before") {
  UndoDesk desk(4);
  desk.site.submit("1").note = "mine";
  undo(desk, done(desk, {.call = testing::call_of(ActionKind::annotate, desk.site.see("1"), "x"),
                         .before = "mine"}));
  CHECK(desk.site.see("1").note == "mine");
}

TEST_CASE("an undo that is lost, or refused, leaves what it was to take back") {
  UndoDesk desk(40);
  const auto id = drained(desk, "a-1");
  desk.site.next({UndoDesk::Fate::refused});
  const auto by = desk.undo(id).value();
  desk.turn();
  CHECK(desk.state(by) == ActionState::failed);
  CHECK(desk.state(id) == ActionState::verified);
  undo(desk, id);
}

TEST_CASE("what has no undo says what can be done") {
  UndoDesk desk(4);
  const SeenJob job = desk.site.submit("1");
  ActionCall start = testing::call_of(ActionKind::start, job);
  start.nodes = {{"a-0", {0, 1, 2, 3}}};
  const auto id = desk.propose({.call = start}).value();
  const auto error = desk.undo(id).error();
  CHECK(error.code == ErrorCode::conflict);
  CHECK(error.message == "start cannot be undone; cancel the job instead");
}

TEST_CASE("only what is verified can be undone, and once at a time") {
  UndoDesk desk(40);
  const auto id = desk.propose(testing::sure_drain("a-1", desk.now())).value();
  CHECK(desk.undo(id).error().code == ErrorCode::conflict);
  desk.turn();
  CHECK(desk.undo(id));
  CHECK(desk.undo(id).error().code == ErrorCode::conflict);
  desk.turn();
  CHECK(desk.undo(id).error().code == ErrorCode::not_found);
}

TEST_CASE("an undo survives a restart") {
  UndoDesk desk(40);
  const auto id = drained(desk, "a-1");
  const auto by = desk.undo(id).value();
  (void)desk.site.call(desk.action(by).call, Connector::Deadline(1));
  desk.restart();
  desk.turn();
  CHECK(desk.state(by) == ActionState::verified);
  CHECK(desk.state(id) == ActionState::undone);
}

TEST_CASE("undo stays possible while the breaker is open") {
  UndoDesk desk(40);
  const auto id = drained(desk, "a-1");
  for (const char* node : {"a-2", "a-3", "a-4"})
    desk.propose(testing::sure_drain(node, desk.now()));
  REQUIRE(desk.actions().breaker_open());
  undo(desk, id);
}

// Humans win (rule 4) ----------------------------------------------------------------------------

TEST_CASE("a human lifts the drain: superseded, and not fought") {
  UndoDesk desk(40);
  const auto id = drained(desk, "a-1");
  desk.site.change_node("a-1") = {"a-1", "a", 4, NodeState::up, ""};
  desk.turn();
  CHECK(desk.way(id) == "planned intended called verified superseded");
  const auto again = desk.propose(testing::sure_drain("a-1", desk.now())).value();
  CHECK(desk.state(again) == ActionState::waiting);  // an operator decides from now on
  desk.restart();
  const auto later = desk.propose(testing::sure_drain("a-1", desk.now()));
  CHECK(!later);  // the first still waits
  CHECK(desk.site.calls().size() == 1);
}

TEST_CASE("a human who has taken the drain over keeps it") {
  UndoDesk desk(40);
  const auto id = drained(desk, "a-1");
  desk.site.change_node("a-1").reason = "bob: new fans";
  desk.turn();
  CHECK(desk.state(id) == ActionState::superseded);
  CHECK(!desk.undo(id));
  for (int i = 0; i < 3; ++i) desk.turn();
  CHECK(desk.site.see_node("a-1").reason == "bob: new fans");
  CHECK(desk.site.calls().size() == 1);
}

TEST_CASE("the mark is checked again in the call: a human who is faster keeps the node") {
  UndoDesk desk(40);
  const auto id = drained(desk, "a-1");
  const auto by = desk.undo(id).value();
  desk.site.change_node("a-1").reason = "bob: new fans";
  desk.turn();
  CHECK(desk.state(by) == ActionState::superseded);
  CHECK(desk.site.see_node("a-1").reason == "bob: new fans");
}

TEST_CASE("a node that a human drained is not drained over") {
  UndoDesk desk(40);
  human_drains(desk, "a-1");
  desk.turn();
  CHECK(!desk.propose(testing::sure_drain("a-1", desk.now())));
}

TEST_CASE("a human drains between plan and call: superseded") {
  UndoDesk desk(40);
  const auto id = desk.propose(testing::sure_drain("a-1", desk.now())).value();
  human_drains(desk, "a-1");
  desk.turn();
  CHECK(desk.state(id) == ActionState::superseded);
  CHECK(desk.site.see_node("a-1").reason == "bob: new fans");
}

TEST_CASE("a human drains while an operator has not decided yet: the approval changes nothing") {
  Settings settings = UndoDesk::all_act();
  settings.caps.drained_nodes_max = 1;
  UndoDesk desk(40, settings);
  drained(desk, "a-1");
  const auto id = desk.propose(testing::sure_drain("a-3", desk.now())).value();
  REQUIRE(desk.state(id) == ActionState::waiting);
  human_drains(desk, "a-3");
  desk.turn();
  CHECK(desk.approve(id));
  desk.turn();
  CHECK(desk.state(id) == ActionState::superseded);
  CHECK(desk.site.see_node("a-3").reason == "bob: new fans");
}

TEST_CASE("a human holds the job first: the hold is superseded") {
  UndoDesk desk(4);
  desk.site.submit("1");
  const auto id =
      desk.propose({.call = testing::call_of(ActionKind::hold, desk.site.see("1"))}).value();
  desk.site.change("1").held = true;
  desk.turn();
  CHECK(desk.state(id) == ActionState::superseded);
  for (int i = 0; i < 3; ++i) desk.turn();
  CHECK(desk.site.see("1").held);
}

TEST_CASE("a human releases the job, or it starts, or is cancelled: the hold is superseded") {
  UndoDesk desk(4);
  const auto a = held(desk, "1"), b = held(desk, "2"), c = held(desk, "3");
  desk.site.change("1").held = false;
  desk.site.change("1").mark.clear();
  desk.site.begin("2", {{"a-0", {0, 1, 2, 3}}});
  desk.site.finish("3", EndState::cancelled);
  desk.turn();
  for (const auto id : {a, b, c}) CHECK(desk.state(id) == ActionState::superseded);
  CHECK(desk.site.calls().size() == 3);
}

TEST_CASE("a human sets another order: superseded") {
  UndoDesk desk(4);
  const auto id = done(desk, {.call = testing::order_of(desk.site.submit("1"), 5)});
  desk.site.change("1").order = 7;
  desk.turn();
  CHECK(desk.state(id) == ActionState::superseded);
  desk.turn();
  CHECK(desk.site.see("1").order == 7);
}

TEST_CASE("a human requeues a job that was to be evicted: that attempt is gone, and nothing is") {
  UndoDesk desk(4);
  desk.site.submit("1");
  desk.site.begin("1", {{"a-0", {0, 1, 2, 3}}});
  const auto id =
      desk.propose({.call = testing::call_of(ActionKind::evict, desk.site.see("1"))}).value();
  desk.site.requeue("1");
  desk.site.begin("1", {{"a-1", {0, 1, 2, 3}}});
  desk.turn();
  CHECK(desk.site.see("1").restarts == 1);
  CHECK(desk.site.see("1").phase == JobPhase::running);
  CHECK(!is_in_flight(desk.state(id)));
}

TEST_CASE("another job came with the same id: superseded") {
  UndoDesk desk(4);
  const auto id = held(desk, "1");
  desk.site.forget("1");
  desk.site.pass(Seconds(5));
  desk.site.submit("1");
  desk.turn();
  CHECK(desk.state(id) == ActionState::superseded);
}

TEST_CASE("plant: without humans_win, a node that a human drained is drained over") {
  UndoDesk desk(40, UndoDesk::without(&Rules::humans_win));
  human_drains(desk, "a-1");
  desk.turn();
  CHECK(desk.propose(testing::sure_drain("a-1", desk.now())));
}

TEST_CASE("plant: without own_marks_only, an undo lifts a human's drain") {
  UndoDesk desk(40, UndoDesk::without(&Rules::own_marks_only));
  const auto id = drained(desk, "a-1");
  CHECK(desk.undo(id));
  desk.site.change_node("a-1").reason = "bob: new fans";
  desk.turn();
  CHECK(desk.site.see_node("a-1").state == NodeState::up);
}

// Fail open (rule 7) -----------------------------------------------------------------------------

TEST_CASE("a hold ends by itself") {
  UndoDesk desk(4, hold_for(Seconds(600)));
  const auto id = held(desk, "1");
  desk.site.pass(Seconds(599));
  desk.turn();
  CHECK(desk.site.see("1").held);
  desk.restart();
  desk.site.pass(Seconds(1));
  desk.turn();
  desk.turn();
  CHECK(!desk.site.see("1").held);
  CHECK(desk.state(id) == ActionState::undone);
}

TEST_CASE("a release that was lost is planned anew") {
  UndoDesk desk(4, hold_for(Seconds(600)));
  const auto id = held(desk, "1");
  desk.site.next({UndoDesk::Fate::lost_before});
  for (int i = 0; i < 4; ++i) {
    desk.site.pass(Seconds(600));
    desk.turn();
    desk.turn();
  }
  CHECK(!desk.site.see("1").held);
  CHECK(desk.state(id) == ActionState::undone);
}

TEST_CASE("a hold that was proposed with a reason can be released") {
  UndoDesk desk(4);
  desk.site.submit("1");
  const auto id = done(
      desk, {.call = testing::call_of(ActionKind::hold, desk.site.see("1"), "a node is suspect")});
  CHECK(desk.site.see("1").mark == "schedmate:here/1");
  undo(desk, id);
}

TEST_CASE("the mark of a call that arrived late is taken away") {
  UndoDesk desk(40);
  desk.site.submit("1");
  desk.site.next({UndoDesk::Fate::lost_before, UndoDesk::Fate::lost_before});
  const auto drain = desk.propose(testing::sure_drain("a-1", desk.now())).value();
  const auto hold =
      desk.propose({.call = testing::call_of(ActionKind::hold, desk.site.see("1"))}).value();
  desk.turn();
  desk.site.pass(Seconds(60));
  desk.turn();
  REQUIRE(desk.state(drain) == ActionState::failed);
  REQUIRE(desk.state(hold) == ActionState::failed);
  for (const auto id : {drain, hold})  // now they arrive
    (void)desk.site.call(desk.action(id).call, Connector::Deadline(1));
  REQUIRE(desk.site.see("1").held);
  desk.turn();
  desk.turn();
  CHECK(!desk.site.see("1").held);
  CHECK(desk.site.see_node("a-1").state == NodeState::up);
}

TEST_CASE("the marks of others are no orphans: another instance's, a later action's, a human's") {
  UndoDesk desk(40);
  drained(desk, "a-0");
  int i = 1;
  for (const char* reason : {"schedmate:there/1 x", "schedmate:here/99 x", "schedmate:here/x",
                             "schedmate:here2/1", "bob: schedmate:here/1"}) {
    SeenNode& node = desk.site.change_node("a-" + std::to_string(i++));
    node.state = NodeState::drained;
    node.reason = reason;
  }
  desk.turn();
  desk.turn();
  CHECK(desk.site.calls().size() == 1);
}

TEST_CASE("plant: without fail_open, holds and late marks stay") {
  UndoDesk desk(40, UndoDesk::without(&Rules::fail_open));
  held(desk, "1");
  desk.site.next({UndoDesk::Fate::lost_before});
  const auto drain = desk.propose(testing::sure_drain("a-1", desk.now())).value();
  desk.turn();
  desk.site.pass(Seconds(60));
  desk.turn();
  REQUIRE(desk.state(drain) == ActionState::failed);
  (void)desk.site.call(desk.action(drain).call, Connector::Deadline(1));  // now it arrives
  desk.site.pass(Seconds(100'000));
  desk.turn();
  desk.turn();
  CHECK(desk.site.see("1").held);
  CHECK(desk.site.see_node("a-1").state == NodeState::drained);
}

}  // namespace
}  // namespace schedmate::live
