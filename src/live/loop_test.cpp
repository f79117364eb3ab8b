// SPDX-License-Identifier: Apache-2.0
/// The loop: records before calls, readings, modes, and what is told.
#include "live/loop.hpp"

#include <doctest/doctest.h>

#include <variant>

#include "tests/support/live_house.hpp"

namespace schedmate::live {
namespace {

using House = testing::LiveHouse;
using testing::ActingDesk;

Proposal order_proposal(House& house, const std::string& job, std::int64_t order) {
  return {.call = testing::order_of(house.site.see(job), order)};
}

template <class Kind>
const Kind* first_of(const std::vector<Effect>& effects) {
  for (const Effect& each : effects)
    if (const auto* const found = std::get_if<Kind>(&each)) return found;
  return nullptr;
}
template <class Kind>
std::size_t place_of(const std::vector<Effect>& effects) {
  std::size_t place = 0;
  while (place < effects.size() && !std::holds_alternative<Kind>(effects[place])) ++place;
  return place;
}

/// A loop without a driver, which has read a job.
struct BareLoop {
  testing::MadeSite site{4};
  Loop loop;
  explicit BareLoop(const Settings& settings = ActingDesk::all_act())
      : loop(options_of(settings), {}, at(1000)) {
    site.submit("1");
    (void)loop.step(Ticked{}, at(1000));
    (void)loop.step(Listed{1, site.listing()}, at(1000));
    (void)loop.step(Appended{}, at(1000));
  }
  static LoopOptions options_of(const Settings& settings) {
    LoopOptions made;
    made.settings = settings;
    return made;
  }
  std::vector<Effect> propose(std::int64_t order) {
    return loop.step(Proposed{{.call = testing::order_of(site.see("1"), order)}}, at(1001));
  }
};

// No record, no action (rule 1) ------------------------------------------------------------------

TEST_CASE("no call leaves before its record is safe") {
  BareLoop bare;
  const auto effects = bare.propose(5);
  REQUIRE(first_of<Append>(effects) != nullptr);
  CHECK(first_of<Append>(effects)->batch.actions.size() == 1);
  CHECK(first_of<MakeCall>(effects) == nullptr);
  const auto after = bare.loop.step(Appended{}, at(1001));
  REQUIRE(first_of<MakeCall>(after) != nullptr);
  CHECK(first_of<MakeCall>(after)->call.order == 5);
}

TEST_CASE("a loop that can record nothing reads and shows on, and does nothing else") {
  BareLoop bare;
  (void)bare.propose(5);
  (void)bare.loop.step(Appended{fail(ErrorCode::unavailable, "the disk is full")}, at(1001));
  CHECK(bare.propose(6).empty());
  bare.site.submit("2");
  const auto ticked = bare.loop.step(Ticked{}, at(1010));
  REQUIRE(ticked.size() == 1);
  REQUIRE(first_of<List>(ticked) != nullptr);
  const auto shown =
      bare.loop.step(Listed{first_of<List>(ticked)->number, bare.site.listing()}, at(1010));
  REQUIRE(shown.size() == 1);
  REQUIRE(first_of<Noted>(shown) != nullptr);
  CHECK(first_of<Noted>(shown)->id == "2");
  CHECK(bare.loop.jobs().find("2") != nullptr);
  CHECK(bare.loop.counts().readings == 2);
  CHECK(bare.loop.next_wake() == never);
}

TEST_CASE("what the journal refuses is not called, and nothing is any more") {
  BareLoop bare;
  (void)bare.propose(5);
  const auto after =
      bare.loop.step(Appended{fail(ErrorCode::refused, "another instance writes")}, at(1001));
  CHECK(first_of<MakeCall>(after) == nullptr);
  REQUIRE(first_of<Stop>(after) != nullptr);
  CHECK(first_of<Stop>(after)->error.code == ErrorCode::refused);
  CHECK(bare.propose(6).empty());
  CHECK(first_of<Append>(bare.loop.step(Ticked{}, at(2000))) == nullptr);
}

TEST_CASE("one batch is on its way at a time; what happens meanwhile goes into the next") {
  BareLoop bare;
  (void)bare.propose(5);
  bare.site.submit("2");
  (void)bare.loop.step(Ticked{}, at(1002));
  const auto read = bare.loop.step(Listed{2, bare.site.listing()}, at(1002));
  CHECK(first_of<Append>(read) == nullptr);
  const auto after = bare.loop.step(Appended{}, at(1002));
  REQUIRE(first_of<Append>(after) != nullptr);
  CHECK(first_of<Append>(after)->batch.events.size() == 1);
  CHECK(first_of<MakeCall>(after) != nullptr);
}

TEST_CASE("plant: without record_first, the call leaves before its record") {
  BareLoop bare(ActingDesk::without(&Rules::record_first));
  const auto effects = bare.propose(5);
  CHECK(place_of<MakeCall>(effects) < place_of<Append>(effects));
  CHECK(place_of<Append>(effects) < effects.size());
}

TEST_CASE("a disk that fails: nothing is called, and the next process begins with what is there") {
  House house(4, ActingDesk::all_act(), House::Pools::none);
  house.site.submit("1");
  house.turn();
  house.disk_fails = true;
  house.tell(Proposed{order_proposal(house, "1", 5)});
  CHECK(house.over());
  CHECK(house.site.calls().empty());
  house.disk_fails = false;
  house.restart();
  house.turn();
  house.tell(Proposed{order_proposal(house, "1", 5)});
  CHECK(house.actions() == "set_order verified");
}

// Readings ---------------------------------------------------------------------------------------

TEST_CASE("after the calls have come back the cluster is read at once") {
  House house(4, ActingDesk::all_act(), House::Pools::none);
  house.site.submit("1");
  house.turn();
  const auto readings = house.loop().counts().readings;
  house.tell(Proposed{order_proposal(house, "1", 5)});
  CHECK(house.loop().counts().readings == readings + 1);
  CHECK(house.actions() == "set_order verified");
}

TEST_CASE("a reading is due after each poll, and none while one is asked for") {
  BareLoop bare;
  CHECK(bare.loop.next_tick() == at(1001));
  CHECK(first_of<List>(bare.loop.step(Ticked{}, at(1000))) == nullptr);
  CHECK(first_of<List>(bare.loop.step(Ticked{}, at(1001))) != nullptr);
  CHECK(bare.loop.next_tick() == never);
  CHECK(first_of<List>(bare.loop.step(Ticked{}, at(1002))) == nullptr);
}

TEST_CASE(
    "a cluster that does not answer: nothing has happened, and it is asked again after a poll") {
  House house(4);
  house.options.poll = Seconds(5);
  house.restart();
  house.site.submit("1");
  house.turn();
  CHECK(house.told() == "arrived 1, started 1");
  house.site.hide(true);
  house.site.submit("2");
  house.turn(Seconds(5));
  house.turn(Seconds(5));
  CHECK(house.told() == "arrived 1, started 1");
  CHECK(house.loop().counts().blind == 2);
  CHECK(house.loop().next_tick() == house.site.now() + Seconds(5));
  CHECK(house.loop().jobs().find("1") != nullptr);
  house.site.hide(false);
  house.turn(Seconds(5));
  CHECK(house.told() == "arrived 1, started 1, arrived 2, started 2");
}

TEST_CASE("a policy that wishes to be asked hurries no reading of a cluster that does not answer") {
  House house(4);
  house.options.poll = Seconds(5);
  house.options.pool = [](const std::string& name) {
    VirtualCluster::Setup setup;
    setup.name = name;
    setup.policy = [](const View& view, Plan& plan) { plan.wake_at(view.now + Seconds(1)); };
    return setup;
  };
  house.restart();
  house.turn();
  CHECK(house.loop().next_tick() == house.site.now() + Seconds(1));
  house.site.hide(true);
  house.turn();
  CHECK(house.loop().next_tick() == house.site.now() + Seconds(5));
}

TEST_CASE("a lost call is read, not repeated, while others go on") {
  House house(4, ActingDesk::all_act(), House::Pools::none);
  for (const char* id : {"1", "2"}) house.site.submit(id);
  house.turn();
  house.site.next({House::Fate::lost_before});
  house.tell(Proposed{{.call = testing::call_of(ActionKind::hold, house.site.see("1"))}});
  house.tell(Proposed{order_proposal(house, "2", 5)});
  CHECK(house.actions() == "hold ambiguous, set_order verified");
  house.turns(61);
  CHECK(house.actions() == "hold failed, set_order verified");
  CHECK(house.site.calls().size() == 2);
}

// What is told -----------------------------------------------------------------------------------

TEST_CASE("each life is told once, in the journal and over restarts") {
  House house(4, ActingDesk::all_in(Mode::observe), House::Pools::none);
  house.site.submit("1");
  house.site.begin("1", {{"a-0", {0, 1, 2, 3}}});
  house.turn();
  CHECK(house.told() == "arrived 1, started 1");
  CHECK(house.events.at(1).body == R"({"gpus":4,"restarts":0,"submitted_s":1000,"user":"ann"})");
  house.restart();
  house.turn();
  CHECK(house.told().empty());
  house.site.finish("1", EndState::failed);
  house.site.submit("2");
  house.site.begin("2", {{"a-1", {0, 1, 2, 3}}});
  house.site.finish("2");
  house.restart();
  house.turn();
  CHECK(house.told() == "ended 1, arrived 2, started 2, ended 2");
  CHECK(house.events.front().body.find("FAILED") != std::string::npos);
  house.restart();
  house.turn();
  CHECK(house.told().empty());
}

TEST_CASE("what was told of a job is forgotten with it, and its end still told once") {
  House house(4, ActingDesk::all_in(Mode::observe), House::Pools::none);
  house.site.submit("1");
  house.site.finish("1");
  house.turn();
  CHECK(house.kept().contains("job 1"));
  for (int i = 2; i < 5; ++i) {
    house.site.submit(std::to_string(i));
    house.turn(Seconds(901));
  }
  CHECK(!house.kept().contains("job 1"));
  house.restart();
  house.turn();
  CHECK(house.told().empty());
}

TEST_CASE("plant: without tells_once, a restart tells lives again") {
  House house(4, ActingDesk::without(&Rules::tells_once, ActingDesk::all_in(Mode::observe)),
              House::Pools::none);
  house.site.submit("1");
  house.turn();
  house.restart();
  house.turn();
  CHECK(house.told() == "arrived 1");
}

TEST_CASE("followers hear of jobs and actions that have changed") {
  BareLoop bare;
  bare.site.begin("1", {{"a-0", {0, 1, 2, 3}}});
  (void)bare.loop.step(Ticked{}, at(1001));
  const auto read = bare.loop.step(Listed{2, bare.site.listing()}, at(1001));
  REQUIRE(first_of<Noted>(read) != nullptr);
  CHECK(first_of<Noted>(read)->what == Noted::What::job);
  CHECK(first_of<Noted>(read)->id == "1");
  (void)bare.loop.step(Appended{}, at(1001));
  const auto proposed =
      bare.loop.step(Proposed{{.call = {.kind = ActionKind::notify, .text = "x"}}}, at(1001));
  std::vector<ActionState> states;
  for (const Effect& each : proposed)
    if (const auto* const noted = std::get_if<Noted>(&each)) states.push_back(noted->state);
  CHECK(states == std::vector{ActionState::planned, ActionState::intended});
}

// Proposals and operators ------------------------------------------------------------------------

TEST_CASE("a proposal for an attempt that is over, or for nobody's job, is dropped") {
  House house(4, ActingDesk::all_act(), House::Pools::none);
  house.site.submit("1");
  house.turn();
  Proposal old = order_proposal(house, "1", 5), other = old, nobody = old;
  house.site.begin("1", {{"a-0", {0, 1, 2, 3}}});
  house.turn();
  house.site.requeue("1");
  house.turn();
  other.call.submitted = at(1);
  nobody.call.job = "9";
  for (const Proposal& each : {old, other, nobody}) house.tell(Proposed{each});
  CHECK(house.actions().empty());
  house.tell(Proposed{order_proposal(house, "1", 5)});
  CHECK(house.actions() == "set_order verified");
}

TEST_CASE("operators are answered") {
  House house(4, ActingDesk::all_in(Mode::approve), House::Pools::none);
  for (const char* id : {"1", "2"}) house.site.submit(id);
  house.turn();
  house.tell(Proposed{order_proposal(house, "1", 5)});
  house.tell(Proposed{order_proposal(house, "2", 5)});
  using enum Decided::What;
  CHECK(house.decide(approve, 1) == 1);
  CHECK(house.decide(reject, 2) == 2);
  CHECK(house.actions() == "set_order verified, set_order rejected");
  CHECK(house.decide(undo, 1) == 3);
  CHECK(house.site.see("1").order == 0);
  CHECK(house.actions() == "set_order undone, set_order rejected, set_order verified");
  CHECK(house.decide(approve, 9).error().code == ErrorCode::not_found);
  CHECK(house.decide(close_breaker));
}

TEST_CASE("approvals expire without any reading") {
  Settings settings = ActingDesk::all_in(Mode::approve);
  settings.waits.approval = Seconds(100);
  House house(4, settings, House::Pools::none);
  house.site.submit("1");
  house.turn();
  house.tell(Proposed{order_proposal(house, "1", 5)});
  house.site.hide(true);
  house.turn(Seconds(101));
  CHECK(house.actions() == "set_order expired");
}

TEST_CASE("the breaker and the caps are kept over a restart") {
  House house(40, ActingDesk::all_act(), House::Pools::none);
  house.turn();
  for (const char* node : {"a-1", "a-2", "a-3"})
    house.tell(Proposed{testing::sure_drain(node, house.site.now())});
  REQUIRE(house.loop().actions().breaker_open());
  REQUIRE(house.remarks.size() == 1);
  house.restart();
  CHECK(house.loop().actions().breaker_open());
  CHECK(house.decide(Decided::What::close_breaker));
  house.restart();
  CHECK(!house.loop().actions().breaker_open());
  CHECK(house.remarks.back().by == "olga");
}

}  // namespace
}  // namespace schedmate::live
