// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "live/actions.hpp"
#include "tests/support/acting_desk.hpp"

namespace schedmate::live {
namespace {

using Desk = testing::ActingDesk;

constexpr const char* theirs = "schedmate:there.5/8 Xid 79";
constexpr const char* their_mark = "schedmate:there.5/8";

void drain(Desk& desk, const std::string& node, const std::string& reason) {
  SeenNode& changed = desk.site.change_node(node);
  changed.state = NodeState::drained;
  changed.reason = reason;
  desk.turn();
}

std::string_view state_of_drain(Desk& desk, const std::string& node) {
  const auto id = desk.propose(testing::sure_drain(node, desk.now()));
  return id ? name_of(desk.state(*id)) : "none";
}

TEST_CASE("whose mark it is") {
  Settings settings;
  settings.instance = "here.1";
  for (const char* text :
       {"schedmate:there.5/8 Xid 79", "schedmate:here/1", "schedmate:here.1x/2", "schedmate:/2"})
    CHECK(is_foreign_mark(settings, text));
  for (const char* text :
       {"", "schedmate:here.1/8 Xid 79", "bob: schedmate:there/8", "schedmate:", "schedmate:there",
        "schedmate:there/", "schedmate:there/x", "schedmate:see the wiki/8", "schedmate"})
    CHECK(!is_foreign_mark(settings, text));
}

TEST_CASE("of a reason with a mark all are told the mark alone") {
  CHECK(told_to_all(theirs) == their_mark);
  CHECK(told_to_all("schedmate:here.1/7") == "schedmate:here.1/7");
  CHECK(told_to_all("bob: new fans") == "bob: new fans");
  CHECK(told_to_all("").empty());
}

TEST_CASE("once another instance is seen to act, nothing is called") {
  Desk desk(40);
  const SeenJob job = desk.site.submit("1");
  drain(desk, "a-1", theirs);
  CHECK(desk.actions().breaker_open());
  CHECK(desk.actions().foreign_mark() == their_mark);
  CHECK(desk.remarks().back().what == "acting ended");
  CHECK(desk.remarks().back().note.find("Xid") == std::string::npos);
  CHECK(state_of_drain(desk, "a-2") == "shadowed");
  const auto start = desk.propose({.call = testing::call_of(ActionKind::start, job)});
  REQUIRE(start);
  CHECK(desk.state(*start) == ActionState::shadowed);
  desk.turn();
  CHECK(desk.site.calls().empty());
  desk.restart();
  desk.turn();
  CHECK(state_of_drain(desk, "a-2") == "shadowed");
  desk.close_breaker();
  desk.turn();  // the mark is still there, and no news
  CHECK(!desk.actions().breaker_open());
  CHECK(desk.remarks().back().what == "acting again");
  CHECK(state_of_drain(desk, "a-2") == "intended");
}

TEST_CASE("requests are refused, with the mark of the other instance") {
  Desk desk(40);
  desk.site.submit("1");
  SeenJob& job = desk.site.change("1");
  job.held = true;
  job.mark = theirs;
  desk.turn();
  Actions actions = desk.actions();
  const auto asked = actions.request({.kind = ActionKind::cancel, .job = "1"}, "ann", desk.now());
  REQUIRE(!asked);
  CHECK(asked.error().message.find(their_mark) != std::string::npos);
  CHECK(asked.error().message.find("Xid") == std::string::npos);
}

TEST_CASE("what waits for an operator is discarded") {
  Desk desk(40, Desk::all_in(Mode::approve));
  const auto waits = desk.propose(testing::sure_drain("a-2", desk.now()));
  REQUIRE(waits);
  drain(desk, "a-1", theirs);
  CHECK(desk.state(*waits) == ActionState::discarded);
}

TEST_CASE("it acts again once no other's mark has appeared for an hour") {
  Desk desk(40);
  drain(desk, "a-1", theirs);
  desk.pass(Seconds(3000));
  drain(desk, "a-3", "schedmate:there.5/9 Xid 79");
  desk.pass(Seconds(3599));
  CHECK(desk.actions().breaker_open());
  desk.pass(Seconds(1));
  CHECK(!desk.actions().breaker_open());
  CHECK(state_of_drain(desk, "a-2") == "intended");
}

TEST_CASE("old marks of others, own ones and people's are nobody who acts now") {
  Desk desk(40);
  SeenNode& old = desk.site.change_node("a-1");
  old.state = NodeState::drained;
  old.reason = theirs;
  desk.restart();  // its first reading shows it
  desk.turn();
  drain(desk, "a-3", "bob: schedmate:there.5/8");
  drain(desk, "a-4", "schedmate:here/99 of a journal that was lost");
  CHECK(!desk.actions().breaker_open());
  CHECK(state_of_drain(desk, "a-2") == "intended");
}

TEST_CASE("plant: without one_instance both act") {
  Desk desk(40, Desk::without(&Rules::one_instance));
  drain(desk, "a-1", theirs);
  CHECK(state_of_drain(desk, "a-2") == "intended");
}

}  // namespace
}  // namespace schedmate::live
