// SPDX-License-Identifier: Apache-2.0
/// The ladder of docs/actions.md, arrow by arrow, modes, and what becomes of lost calls.
#include "live/actions.hpp"

#include <doctest/doctest.h>

#include "tests/support/acting_desk.hpp"

namespace schedmate::live {
namespace {

using Desk = testing::ActingDesk;
using Fate = Desk::Fate;
using testing::call_of;
using testing::order_of;

/// Operators decide, as long as that.
Settings approve_within(Seconds time) {
  Settings made = Desk::all_in(Mode::approve);
  made.waits.approval = time;
  return made;
}

/// A new job is to get the order 5.
std::int64_t order(Desk& desk, const std::string& job) {
  return desk.propose({.call = order_of(desk.site.submit(job), 5)}).value();
}

std::int64_t hold(Desk& desk, const std::string& job) {
  return desk.propose({.call = call_of(ActionKind::hold, desk.site.see(job))}).value();
}

std::int64_t requeue(Desk& desk, const std::string& job) {
  return desk.propose({.call = call_of(ActionKind::requeue_excluding, desk.site.see(job))}).value();
}

std::int64_t notify(Desk& desk) {
  return desk.propose({.call = {.kind = ActionKind::notify, .text = "hello"}}).value();
}

/// Job 1, a call that was to hold it, and a reading after that.
struct HoldCall {
  Desk desk;
  std::int64_t id = 0;
  explicit HoldCall(Fate fate, Settings settings = Desk::all_act()) : desk(4, std::move(settings)) {
    desk.site.submit("1");
    desk.site.next({fate});
    id = hold(desk, "1");
    desk.turn();
  }
  [[nodiscard]] std::string way() const { return desk.way(id); }
  /// Until there has been time enough for its effect to show.
  void wait_for_outcome() {
    desk.site.pass(Seconds(60));
    desk.turn();
  }
};

// Modes ------------------------------------------------------------------------------------------

TEST_CASE("observe: nothing is planned") {
  Desk desk(4, Desk::all_in(Mode::observe));
  CHECK(!desk.propose({.call = order_of(desk.site.submit("1"), 5)}));
  desk.turn();
  CHECK(desk.known() == 0);
  CHECK(desk.site.calls().empty());
  CHECK(desk.actions().counts().observed == 1);
}

TEST_CASE("shadow: planned, shadowed, and never called") {
  Desk desk(4, Desk::all_in(Mode::shadow));
  const auto id = order(desk, "1");
  desk.turn();
  desk.restart();
  desk.turn();
  CHECK(desk.way(id) == "planned shadowed");
  CHECK(desk.site.calls().empty());
  CHECK(!desk.approve(id));
}

TEST_CASE("what has ended is shown until that is on record") {
  Actions actions(Desk::all_in(Mode::shadow), {});
  const Actions& shown = actions;
  const auto id = actions.propose({.call = {.kind = ActionKind::notify, .text = "x"}}, at(1));
  REQUIRE(id);
  CHECK(actions.take().actions.size() == 1);
  REQUIRE(shown.find(*id) != nullptr);
  CHECK(shown.find(*id)->state() == ActionState::shadowed);
  CHECK(actions.take().steps.empty());
  (void)actions.recorded();
  CHECK(shown.find(*id) == nullptr);
}

TEST_CASE("shadow holds nobody up: the target is free for the next decision") {
  Desk desk(4, Desk::all_in(Mode::shadow));
  const SeenJob job = desk.site.submit("1");
  CHECK(desk.propose({.call = order_of(job, 5)}));
  CHECK(desk.propose({.call = order_of(job, 6)}));
}

TEST_CASE("act: planned, intended, called, verified") {
  Desk desk(4);
  const auto id = order(desk, "1");
  CHECK(desk.way(id) == "planned intended");
  desk.turn();
  CHECK(desk.way(id) == "planned intended called verified");
  CHECK(desk.site.see("1").order == 5);
}

TEST_CASE("each area obeys its own mode") {
  Settings settings = Desk::all_act();
  settings.modes.annotate = Mode::observe;
  settings.modes.recover = Mode::approve;
  settings.modes.pack = Mode::shadow;
  Desk desk(40, settings);
  const SeenJob job = desk.site.submit("1");
  CHECK(!desk.propose({.call = call_of(ActionKind::annotate, job, "x")}));
  const auto drain = desk.propose(testing::sure_drain("a-1", desk.now())).value();
  ActionCall parting = call_of(ActionKind::evict, job);
  parting.shared_with = "2";
  const auto part = desk.propose({.call = parting}).value();
  const auto evict = desk.propose({.call = call_of(ActionKind::evict, job)}).value();
  CHECK(desk.state(drain) == ActionState::waiting);
  CHECK(desk.state(part) == ActionState::shadowed);
  CHECK(desk.state(evict) == ActionState::intended);
}

TEST_CASE("plant: without obeys_modes, shadow acts") {
  Desk desk(4, Desk::without(&Rules::obeys_modes, Desk::all_in(Mode::shadow)));
  order(desk, "1");
  desk.turn();
  CHECK(desk.site.calls().size() == 1);
}

// Approvals --------------------------------------------------------------------------------------

TEST_CASE("approve: waits, and is called once an operator said so") {
  Desk desk(4, Desk::all_in(Mode::approve));
  const auto id = order(desk, "1");
  desk.turn();
  desk.turn();
  CHECK(desk.way(id) == "planned waiting");
  CHECK(desk.site.calls().empty());
  CHECK(desk.approve(id));
  CHECK(desk.way(id) == "planned waiting approved intended");
  CHECK(desk.action(id).steps.at(2).by == "olga");
  desk.turn();
  CHECK(desk.way(id) == "planned waiting approved intended called verified");
}

TEST_CASE("what was rejected is never called") {
  Desk desk(4, Desk::all_in(Mode::approve));
  const auto id = order(desk, "1");
  CHECK(desk.reject(id));
  desk.turn();
  CHECK(desk.way(id) == "planned waiting rejected");
  CHECK(desk.action(id).steps.back().by == "olga");
  CHECK(desk.approve(id).error().code == ErrorCode::not_found);
  CHECK(desk.site.calls().empty());
}

TEST_CASE("what nobody decides on expires") {
  Desk desk(4, approve_within(Seconds(100)));
  const auto id = order(desk, "1");
  desk.pass(Seconds(99));
  CHECK(desk.state(id) == ActionState::waiting);
  desk.pass(Seconds(1));
  CHECK(desk.way(id) == "planned waiting expired");
  CHECK(!desk.approve(id));
}

TEST_CASE("an approval that waits survives a restart, and its time goes on") {
  Desk desk(4, approve_within(Seconds(100)));
  const auto a = order(desk, "1"), b = order(desk, "2");
  desk.pass(Seconds(60));
  desk.restart();
  CHECK(desk.approve(a));
  desk.turn();
  CHECK(desk.state(a) == ActionState::verified);
  desk.pass(Seconds(40));
  CHECK(desk.state(b) == ActionState::expired);
}

TEST_CASE("only what waits can be approved or rejected") {
  Desk desk(4);
  const auto id = order(desk, "1");
  CHECK(desk.approve(id).error().code == ErrorCode::conflict);
  CHECK(desk.reject(id).error().code == ErrorCode::conflict);
  CHECK(desk.approve(99).error().code == ErrorCode::not_found);
}

// Outcomes (rule 1) ------------------------------------------------------------------------------

TEST_CASE("refused, and the cluster does not show it: failed") {
  const HoldCall call(Fate::refused);
  CHECK(call.way() == "planned intended called failed");
  CHECK(call.desk.action(call.id).steps.back().note == "not today");
}

TEST_CASE("the outcome is what is read: refused, but done, is verified") {
  CHECK(HoldCall(Fate::lies_refused).way() == "planned intended called verified");
}

TEST_CASE("the outcome is what is read: said to be done, but not there, is failed in the end") {
  HoldCall call(Fate::lies_done);
  CHECK(call.way() == "planned intended called");
  call.wait_for_outcome();
  CHECK(call.way() == "planned intended called failed");
}

TEST_CASE("plant: without reads_outcomes, what the cluster says wrongly is believed") {
  HoldCall call(Fate::lies_done, Desk::without(&Rules::reads_outcomes));
  CHECK(call.way().starts_with("planned intended called verified"));
  CHECK(!call.desk.site.see("1").held);
}

TEST_CASE("a reading that was asked for before the call came back tells nothing against it") {
  Desk desk(4);
  desk.site.submit("1");
  Actions actions(Desk::all_act(), {});
  const auto id =
      actions.propose({.call = call_of(ActionKind::hold, desk.site.see("1"))}, at(1000)).value();
  (void)actions.take();
  REQUIRE(actions.recorded().size() == 1);
  actions.returned(id, {CallOutcome::refused, "no", {}}, 1, at(1000));
  const Listing old = desk.site.listing();
  actions.read(Reading(old), 1, at(1000));  // asked for before
  CHECK(actions.all().at(id).state() == ActionState::called);
  actions.read(Reading(old), 2, at(1001));
  CHECK(actions.all().at(id).state() == ActionState::failed);
}

TEST_CASE("what is seen before the call comes back is verified by way of called") {
  Desk desk(4);
  desk.site.submit("1");
  const auto id = hold(desk, "1");
  SeenJob& job = desk.site.change("1");
  job.held = true;
  job.mark = desk.action(id).call.text;
  desk.read();
  CHECK(desk.way(id) == "planned intended called verified");
}

TEST_CASE("a notice is silent: its answer must do") {
  Desk desk(4);
  const auto said = notify(desk);
  desk.turn();
  CHECK(desk.way(said) == "planned intended called verified");
  desk.site.next({Fate::refused});
  const auto no = notify(desk);
  desk.turn();
  CHECK(desk.way(no) == "planned intended called failed");
  desk.site.next({Fate::lost_after});
  const auto lost = notify(desk);
  desk.turn();
  CHECK(desk.way(lost) == "planned intended called ambiguous");
  desk.site.pass(Seconds(60));
  desk.turn();
  CHECK(desk.way(lost) == "planned intended called ambiguous failed");
  CHECK(desk.site.calls().size() == 3);
}

// Ambiguous means stop (rule 2) ------------------------------------------------------------------

TEST_CASE("a lost hold that arrived is verified when it shows") {
  CHECK(HoldCall(Fate::lost_after).way() == "planned intended called verified");
}

TEST_CASE("a lost hold that did not arrive is ambiguous, never repeated, and failed in the end") {
  HoldCall call(Fate::lost_before);
  CHECK(call.way() == "planned intended called ambiguous");
  for (int i = 0; i < 5; ++i) call.desk.turn();
  call.wait_for_outcome();
  CHECK(call.way() == "planned intended called ambiguous failed");
  CHECK(call.desk.site.calls().size() == 1);
}

TEST_CASE("an ambiguous one is verified by a later reading") {
  HoldCall call(Fate::lost_before);
  SeenJob& job = call.desk.site.change("1");
  job.held = true;
  job.mark = call.desk.action(call.id).call.text;
  call.desk.turn();
  CHECK(call.way() == "planned intended called ambiguous verified");
}

TEST_CASE("an ambiguous one is superseded when its target is gone") {
  HoldCall call(Fate::lost_before);
  call.desk.site.forget("1");
  call.desk.turn();
  CHECK(call.way() == "planned intended called ambiguous superseded");
}

TEST_CASE("called and its target has changed: superseded") {
  Desk desk(4);
  desk.site.submit("1");
  desk.site.next({Fate::lies_done});
  const auto id = hold(desk, "1");
  desk.site.begin("1", {{"a-0", {0, 1, 2, 3}}});
  desk.turn();
  CHECK(desk.way(id) == "planned intended called superseded");
}

TEST_CASE("set_order is repeated at once, three times at most") {
  Desk desk(4);
  desk.site.next({Fate::lost_before, Fate::lost_before, Fate::done});
  const auto id = order(desk, "1");
  for (int i = 0; i < 3; ++i) desk.turn();
  CHECK(desk.way(id) == "planned intended called ambiguous verified");
  CHECK(desk.site.calls().size() == 3);

  desk.site.next({Fate::lost_before, Fate::lost_before, Fate::lost_before, Fate::done});
  const auto lost = order(desk, "2");
  for (int i = 0; i < 6; ++i) desk.turn();
  desk.site.pass(Seconds(60));
  desk.turn();
  CHECK(desk.state(lost) == ActionState::failed);
  CHECK(desk.site.calls().size() == 6);
}

TEST_CASE(
    "a lost requeue is repeated once the time for its outcome is over, and only while the "
    "restarts are as before") {
  Desk desk(4);
  for (const char* id : {"1", "2"}) {
    desk.site.submit(id);
    desk.site.begin(id, {{"a-0", {0, 1, 2, 3}}});
    desk.site.finish(id, EndState::failed);
  }
  desk.read();
  desk.site.next({Fate::lost_before, Fate::lost_before});
  const auto again = requeue(desk, "1"), other = requeue(desk, "2");
  desk.turn();
  CHECK(desk.state(again) == ActionState::ambiguous);
  desk.turn();
  CHECK(desk.site.calls().size() == 2);
  desk.site.requeue("2");  // its owner
  desk.site.pass(Seconds(60));
  desk.turn();
  desk.turn();
  CHECK(desk.state(again) == ActionState::verified);
  CHECK(desk.state(other) == ActionState::verified);
  CHECK(desk.site.calls().size() == 3);
  CHECK(desk.site.see("1").restarts == 1);
  CHECK(desk.site.see("2").restarts == 1);
}

TEST_CASE("a lost submission is looked up by its token, and repeated only when it is not found") {
  Desk desk(4);
  const auto submit = [&](const std::string& token) {
    ActionCall call{.kind = ActionKind::submit};
    call.token = token;
    return desk.propose({.call = std::move(call)}).value();
  };
  desk.site.next({Fate::lost_after, Fate::lost_before});
  const auto arrived = submit("t1"), lost = submit("t2");
  desk.turn();
  CHECK(desk.state(arrived) == ActionState::verified);
  CHECK(desk.state(lost) == ActionState::ambiguous);
  desk.site.pass(Seconds(120));
  desk.turn();
  desk.turn();
  CHECK(desk.state(lost) == ActionState::verified);
  CHECK(desk.site.calls().size() == 3);
  CHECK(desk.site.listing().jobs.size() == 2);
}

TEST_CASE(
    "a submission is not called a third time on a reading that may be older than the second") {
  Desk desk(4);
  desk.site.next({Fate::lost_before, Fate::lies_done});
  ActionCall call{.kind = ActionKind::submit};
  call.token = "t";
  const auto id = desk.propose({.call = std::move(call)}).value();
  const auto calls_after = [&](Seconds time) {
    desk.site.pass(time);
    desk.turn();
    desk.turn();
    return desk.site.calls().size();
  };
  CHECK(calls_after(Seconds(0)) == 1);
  CHECK(calls_after(Seconds(120)) == 2);
  CHECK(calls_after(Seconds(60)) == 2);
  CHECK(calls_after(Seconds(60)) == 3);
  CHECK(desk.state(id) == ActionState::verified);
}

TEST_CASE("a drain that does not show is planned anew on fresh witnesses, never repeated") {
  Desk desk(40);
  desk.site.next({Fate::lost_before});
  const auto id = desk.propose(testing::sure_drain("a-1", desk.now())).value();
  for (int i = 0; i < 3; ++i) desk.turn();
  CHECK(desk.state(id) == ActionState::ambiguous);
  CHECK(!desk.propose(testing::sure_drain("a-1", desk.now())));  // one at a time
  desk.site.pass(Seconds(60));
  desk.turn();
  CHECK(desk.state(id) == ActionState::failed);
  CHECK(desk.site.calls().size() == 1);
  const auto anew = desk.propose(testing::sure_drain("a-1", desk.now())).value();
  desk.turn();
  CHECK(desk.state(anew) == ActionState::verified);
}

TEST_CASE("plant: without ambiguous_stops, a lost hold is called again") {
  HoldCall call(Fate::lost_before, Desk::without(&Rules::ambiguous_stops));
  call.desk.turn();
  CHECK(call.desk.site.calls().size() == 2);
}

// Restarts ---------------------------------------------------------------------------------------

TEST_CASE("killed between intent and call: read, not repeated") {
  Desk desk(4);
  desk.site.submit("1");
  const auto id = hold(desk, "1");
  desk.restart();
  CHECK(desk.way(id) == "planned intended called");
  desk.turn();
  CHECK(desk.way(id) == "planned intended called ambiguous");
  desk.site.pass(Seconds(60));
  desk.turn();
  CHECK(desk.way(id) == "planned intended called ambiguous failed");
  CHECK(desk.site.calls().empty());
}

TEST_CASE("killed after the call: its effect is seen by the next process") {
  Desk desk(4);
  desk.site.submit("1");
  const auto id = hold(desk, "1");
  (void)desk.site.call(desk.action(id).call, Connector::Deadline(1));
  desk.restart();
  desk.turn();
  CHECK(desk.way(id) == "planned intended called verified");
  CHECK(desk.site.calls().size() == 1);
}

TEST_CASE("after a restart set_order is called again, as that does no harm") {
  Desk desk(4);
  const auto id = order(desk, "1");
  desk.restart();
  desk.turn();
  desk.turn();
  CHECK(desk.way(id) == "planned intended called ambiguous verified");
}

TEST_CASE("a restart never uses an id again, and keeps targets busy") {
  HoldCall call(Fate::lost_before);
  const SeenJob job = call.desk.site.see("1");
  call.desk.restart();
  CHECK(!call.desk.propose({.call = call_of(ActionKind::cancel, job)}));
  CHECK(call.desk.propose({.call = order_of(job, 5)}).value() == call.id + 1);
}

TEST_CASE("one at a time: an order, a job, a note and a node are targets of their own") {
  Desk desk(40);
  const SeenJob job = desk.site.submit("1");
  CHECK(desk.propose({.call = order_of(job, 5)}));
  CHECK(!desk.propose({.call = order_of(job, 6)}));
  CHECK(desk.propose({.call = call_of(ActionKind::annotate, job, "x")}));
  CHECK(hold(desk, "1") > 0);
  CHECK(!desk.propose({.call = call_of(ActionKind::cancel, job)}));
  CHECK(desk.propose(testing::sure_drain("a-1", desk.now())));
  CHECK(!desk.propose(testing::sure_drain("a-1", desk.now())));
  CHECK(desk.propose(testing::sure_drain("a-2", desk.now())));
  CHECK(desk.actions().counts().busy == 3);
}

TEST_CASE("a call that is due again is not due twice while its record is written") {
  testing::MadeSite site(2);
  Actions actions(testing::ActingDesk::all_act(), {});
  std::uint64_t number = 0;
  const auto read = [&] {
    const auto listing = site.list(SimTime::min(), Connector::Deadline(1));
    actions.read(Reading(*listing), ++number, site.now());
  };
  read();
  const auto id = actions.propose(
      {.call = {.kind = ActionKind::submit, .text = "{}", .user = "ann", .token = "t"}},
      site.now());
  (void)actions.take();
  REQUIRE(actions.recorded().size() == 1);
  actions.returned(id.value(), {CallOutcome::unknown, "no answer", {}}, number, site.now());
  site.pass(Seconds(130));
  read();
  (void)actions.take();  // the record is on its way
  site.pass(Seconds(1));
  read();
  CHECK(actions.recorded().size() == 1);
  (void)actions.take();
  CHECK(actions.recorded().empty());
  site.pass(Seconds(1));
  read();  // the call is out
  (void)actions.take();
  CHECK(actions.recorded().empty());
}

}  // namespace
}  // namespace schedmate::live
