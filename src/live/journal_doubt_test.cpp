// SPDX-License-Identifier: Apache-2.0

/// A journal that is not what was on record: nothing is called until an operator agrees.
#include <doctest/doctest.h>

#include "live/actions.hpp"
#include "tests/support/acting_desk.hpp"

namespace schedmate::live {
namespace {

using DoubtDesk = testing::ActingDesk;

constexpr const char* lost = "it has gone back";

TEST_CASE("in doubt nothing is called, over restarts, until an operator agrees") {
  DoubtDesk desk(40);
  desk.restart_in_doubt(lost);
  desk.turn();
  CHECK(desk.actions().breaker_open());
  const auto drain = desk.propose(testing::sure_drain("a-1", desk.now())).value();
  const auto start =
      desk.propose({.call = testing::call_of(ActionKind::start, desk.site.submit("1"))}).value();
  desk.turn();
  CHECK(desk.state(drain) == ActionState::shadowed);
  CHECK(desk.state(start) == ActionState::shadowed);
  desk.restart();
  desk.pass(Seconds(100'000));  // no time closes it
  CHECK(desk.actions().doubt() == lost);
  CHECK(desk.site.calls().empty());
  desk.close_breaker();
  CHECK(desk.remarks().back().what == "acting again");
  CHECK(desk.remarks().back().by == "olga");
  CHECK(desk.remarks().back().note.contains(lost));
  desk.restart();
  desk.turn();
  CHECK(!desk.actions().breaker_open());
  const auto again = desk.propose(testing::sure_drain("a-2", desk.now())).value();
  CHECK(desk.state(again) == ActionState::intended);
}

TEST_CASE("in doubt requests, approvals and undos are refused, and what waited is discarded") {
  DoubtDesk desk(40, DoubtDesk::all_in(Mode::approve));
  const auto done = desk.propose(testing::sure_drain("a-1", desk.now())).value();
  CHECK(desk.approve(done));
  desk.turn();
  const auto waits = desk.propose(testing::sure_drain("a-2", desk.now())).value();
  desk.restart_in_doubt(lost);
  CHECK(desk.state(waits) == ActionState::discarded);
  const auto undo = desk.undo(done);
  REQUIRE(!undo);
  CHECK(undo.error().message.contains(lost));
  Actions actions = desk.actions();
  const auto asked = actions.request({.kind = ActionKind::cancel, .job = "1"}, "ann", desk.now());
  REQUIRE(!asked);
  CHECK(asked.error().message.contains(lost));
}

TEST_CASE("in doubt no call is repeated, no hold ends and no mark is taken back") {
  DoubtDesk desk(40);
  const auto order = desk.propose({.call = testing::order_of(desk.site.submit("1"), 5)}).value();
  const auto held =
      desk.propose({.call = testing::call_of(ActionKind::hold, desk.site.submit("2"))}).value();
  desk.site.next({DoubtDesk::Fate::lost_before, DoubtDesk::Fate::done});
  desk.turn();
  REQUIRE(desk.state(held) == ActionState::verified);
  const auto drain = desk.propose(testing::sure_drain("a-1", desk.now())).value();
  SeenNode& node = desk.site.change_node("a-3");
  node.state = NodeState::drained;
  node.reason = "schedmate:here/0";
  const auto before = desk.site.calls().size();
  desk.restart_in_doubt(lost);
  desk.site.pass(Seconds(7200));
  desk.turn();
  desk.turn();
  CHECK(desk.site.calls().size() == before);
  CHECK(desk.state(order) == ActionState::failed);
  CHECK(desk.state(drain) == ActionState::failed);
  CHECK(desk.site.see("2").held);
}

}  // namespace
}  // namespace schedmate::live
