// SPDX-License-Identifier: Apache-2.0
/// What people ask for: once each, also when they ask again.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <variant>
#include <vector>

#include "live/loop.hpp"
#include "live/submissions.hpp"
#include "tests/support/live_house.hpp"

namespace schedmate::live {
namespace {

using House = testing::LiveHouse;
using testing::ActingDesk;

Requested submission(const std::string& token, const std::string& text = "{}") {
  Requested made{.call = {.kind = ActionKind::submit}};
  made.call.text = text;
  made.call.user = "ann";
  made.call.token = token;
  made.by = "uid 7";
  made.is_keyed = true;
  return made;
}

Requested cancellation(House& house, const std::string& job) {
  const SeenJob& seen = house.site.see(job);
  Requested made{.call = {.kind = ActionKind::cancel, .job = job, .submitted = seen.submitted}};
  made.by = "uid 7";
  return made;
}

std::ptrdiff_t submitted(House& house) {
  return std::ranges::count(house.site.calls(), ActionKind::submit, &ActionCall::kind);
}

}  // namespace

TEST_CASE("a submission is recorded, called, and verified as the job that it became") {
  House house(4);
  house.turn();
  const Answer answer = house.request(submission("k"));
  REQUIRE(answer.result);
  CHECK(!answer.repeated);
  const Action& action = house.book().at(*answer.result);
  CHECK(action.state() == ActionState::verified);
  CHECK(action.steps.front().by == "uid 7");
  CHECK(action.steps.back().note == "job new-k");
  house.turn();
  CHECK(house.told() == "arrived new-k, started new-k");
}

TEST_CASE("who asks again with his key gets the same submission, also from the next process") {
  House house(4);
  house.turn();
  const Answer first = house.request(submission("k"));
  Answer again = house.request(submission("k"));
  CHECK(again.repeated);
  CHECK(again.result.value() == first.result.value());
  house.restart();
  house.turn();
  again = house.request(submission("k"));
  CHECK(again.repeated);
  CHECK(again.result.value() == first.result.value());
  CHECK(submitted(house) == 1);
  CHECK(house.request(submission("other")).result.value() != first.result.value());
  CHECK(submitted(house) == 2);
}

TEST_CASE("a key that comes with another request is a conflict") {
  House house(4);
  house.turn();
  (void)house.request(submission("k"));
  const Answer other = house.request(submission("k", R"({"gpus": 2})"));
  REQUIRE(!other.result);
  CHECK(other.result.error().code == ErrorCode::conflict);
  CHECK(submitted(house) == 1);
}

TEST_CASE("a key is forgotten after a day, and the oldest when there are too many") {
  Submissions some(2);
  for (const char* token : {"a", "b", "c"}) some.note(submission(token).call, 1, at(0));
  CHECK(some.take(at(5)).size() == 4);  // three, and that the first is gone
  CHECK(some.find("a") == nullptr);
  CHECK(some.find("b") != nullptr);
  CHECK(some.take(at(86400)).size() == 2);
  CHECK(some.find("c") == nullptr);
  Submissions none;
  none.restore({{"submission x", "nonsense"}, {"submission y", "1 2"}, {"other", "1 2 3"}});
  CHECK(none.find("x") == nullptr);
}

TEST_CASE(
    "a submission whose call was lost is looked up, and called again only if it is not there") {
  for (const auto fate : {House::Fate::lost_after, House::Fate::lost_before}) {
    House house(4);
    house.turn();
    house.site.next({fate});
    const Answer answer = house.request(submission("k"));
    house.turns(200);
    CHECK(house.book().at(*answer.result).state() == ActionState::verified);
    CHECK(submitted(house) == (fate == House::Fate::lost_after ? 1 : 2));
    CHECK(std::ranges::count(house.site.listing().jobs, "k", &SeenJob::token) == 1);
  }
}

TEST_CASE("a submission that was lost long ago is looked for among ends of that time") {
  for (const auto fate : {House::Fate::lost_after, House::Fate::lost_before}) {
    House house(4, ActingDesk::all_act(), House::Pools::none);
    house.site.submit("old");
    house.site.finish("old");
    house.turn();
    house.site.next({fate});
    const Answer answer = house.request(submission("k"));
    if (fate == House::Fate::lost_after) house.site.finish("new-k");
    house.site.pass(Seconds(5000));  // nobody is there
    house.restart();
    house.turns(200);
    CHECK(house.book().at(*answer.result).state() == ActionState::verified);
    CHECK(std::ranges::count(house.site.listing().jobs, "k", &SeenJob::token) == 1);
    CHECK(!house.told().contains("old"));  // what was told is not told again
  }
}

TEST_CASE("time that waits for us goes on to when a lost submission is looked up") {
  House house(4, ActingDesk::all_act(), House::Pools::none);
  house.turn();
  house.site.next({House::Fate::lost_before});
  const SimTime asked = house.site.now();
  (void)house.request(submission("k"));
  CHECK(house.loop().next_wake() == asked + Seconds(120));
}

TEST_CASE("jobs are submitted and cancelled in mode act only, and the refusal names the setting") {
  for (const Mode mode : {Mode::observe, Mode::shadow, Mode::approve}) {
    House house(4, ActingDesk::all_in(mode), House::Pools::none);
    house.site.submit("1");
    house.turn();
    for (const Requested& asked : {submission("k"), cancellation(house, "1")}) {
      const Answer answer = house.request(asked);
      REQUIRE(!answer.result);
      CHECK(answer.result.error().code == ErrorCode::conflict);
      CHECK(answer.result.error().message.starts_with("setting mode.order is "));
    }
    CHECK(house.site.calls().empty());
    CHECK(house.actions().empty());
  }
}

TEST_CASE("a job is cancelled once, whether it waits or runs, and no cap is about it") {
  Settings settings = ActingDesk::all_act();
  settings.caps.actions_per_hour = 0;
  House house(4, settings);
  house.site.submit("1");
  house.site.submit("2", 100);  // fits nowhere
  house.turns(2);
  CHECK(house.site.see("1").phase == JobPhase::running);
  for (const char* job : {"1", "2"}) CHECK(house.request(cancellation(house, job)).result);
  house.turn();
  CHECK(house.site.see("1").end_state == EndState::cancelled);
  CHECK(house.site.see("2").end_state == EndState::cancelled);
  CHECK(house.actions() == "start verified, cancel verified, cancel verified");
}

TEST_CASE("who cancels again while it is on its way gets the same action") {
  House house(4, ActingDesk::all_act(), House::Pools::none);
  house.site.submit("1");
  house.turn();
  house.site.next({House::Fate::lost_before});
  const Answer first = house.request(cancellation(house, "1"));
  const Answer again = house.request(cancellation(house, "1"));
  CHECK(again.repeated);
  CHECK(again.result.value() == first.result.value());
}

TEST_CASE("many requests while a batch is on its way are one batch, answered when that is safe") {
  Loop loop({.settings = ActingDesk::all_act()}, {}, at(0));
  const auto count = [](const std::vector<Effect>& effects, const auto& is) {
    return std::ranges::count_if(effects, is);
  };
  const auto is_answer = [](const Effect& each) { return std::holds_alternative<Answer>(each); };
  const auto is_append = [](const Effect& each) { return std::holds_alternative<Append>(each); };
  CHECK(count(loop.step(submission("0"), at(0)), is_append) == 1);
  for (int i = 1; i < 100; ++i) CHECK(loop.step(submission(std::to_string(i)), at(0)).empty());
  CHECK(loop.step(submission("50"), at(0)).empty());  // a repeat waits for the first, too
  const auto first = loop.step(Appended{}, at(0));
  CHECK(count(first, is_answer) == 1);
  REQUIRE(count(first, is_append) == 1);
  const auto append = std::ranges::find_if(first, is_append);
  CHECK(std::get<Append>(*append).batch.actions.size() == 99);
  CHECK(count(loop.step(Appended{}, at(0)), is_answer) == 100);
}

}  // namespace schedmate::live
