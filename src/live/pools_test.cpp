// SPDX-License-Identifier: Apache-2.0
/// The loop as the one who starts jobs.
#include <doctest/doctest.h>

#include <optional>
#include <utility>
#include <vector>

#include "live/loop.hpp"
#include "tests/support/live_house.hpp"

namespace schedmate::live {
namespace {

using PoolHouse = testing::LiveHouse;

Settings pool_in(Mode mode) {
  Settings made = testing::ActingDesk::all_act();
  made.modes.order = mode;
  return made;
}
const std::vector<NodeGpus> on_node_0{{"a-0", {0, 1, 2, 3}}}, on_node_1{{"a-1", {0, 1, 2, 3}}};

bool runs(PoolHouse& house, const std::string& job) {
  return house.site.see(job).phase == JobPhase::running;
}

TEST_CASE("what waits is started, and what ends makes room") {
  PoolHouse house(1);
  for (const char* id : {"1", "2"}) house.site.submit(id);
  house.turn();
  CHECK(runs(house, "1"));
  CHECK(!runs(house, "2"));
  CHECK(house.actions() == "start verified");
  house.turns(3);
  house.site.finish("1");
  house.turn();
  CHECK(runs(house, "2"));
  CHECK(house.told() == "arrived 1, arrived 2, started 1, ended 1, started 2");
  CHECK(house.site.calls().size() == 2);
}

TEST_CASE("without a pool nobody starts jobs") {
  PoolHouse house(1, pool_in(Mode::act), PoolHouse::Pools::none);
  house.site.submit("1");
  house.turns(3);
  CHECK(house.site.calls().empty());
}

TEST_CASE("jobs of a partition that is no pool are left alone") {
  PoolHouse house(1);
  house.turn();
  house.site.submit("1").partition = "b";
  house.turns(2);
  CHECK(house.site.calls().empty());
}

TEST_CASE("a partition that appears later has a pool, also for who waited there already") {
  PoolHouse house(1);
  house.turn();
  house.site.submit("1").partition = "b";
  house.turns(2);
  house.site.listing().nodes.push_back({"b-0", "b", 4, NodeState::up, ""});
  house.site.change("1");
  house.turns(2);
  CHECK(runs(house, "1"));
  CHECK(house.site.see("1").nodes.front().node == "b-0");
}

TEST_CASE("GPUs of a start on its way are not given away once somebody else has left them") {
  PoolHouse house(1);
  house.site.submit("1");
  house.site.next({PoolHouse::Fate::lost_before});
  house.turn();
  house.site.submit("2");
  house.site.begin("2", on_node_0);  // by hand
  house.turn();
  house.site.submit("3");
  house.site.finish("2");
  house.turn();
  CHECK(house.actions() == "start ambiguous");
  CHECK(house.site.calls().size() == 1);
}

TEST_CASE("what runs holds its GPUs before a start on its way does, whatever the clocks say") {
  PoolHouse house(1);
  house.site.submit("1").gpus = 1;
  house.site.next({PoolHouse::Fate::lost_before});
  house.turn();
  house.site.submit("2").gpus = 2;
  house.site.begin("2", {{"a-0", {0, 1}}});  // by hand
  house.site.change("2").started = house.site.now() + Seconds(100);
  house.site.submit("3").gpus = 2;
  house.turns(2);
  REQUIRE(runs(house, "3"));
  CHECK(house.site.see("3").nodes == std::vector<NodeGpus>{{"a-0", {2, 3}}});
}

// Holds ------------------------------------------------------------------------------------------

TEST_CASE("a held job is not told to the policy; released, it is") {
  PoolHouse house(2);
  house.site.submit("1").held = true;
  house.turn();
  house.site.submit("2").held = true;  // one after the first reading, too
  house.site.submit("3");
  house.turns(3);
  CHECK(house.site.calls().size() == 1);
  CHECK(runs(house, "3"));
  house.site.change("1").held = false;
  house.turn();
  CHECK(runs(house, "1"));
  CHECK(!runs(house, "2"));
}

TEST_CASE("a job that is held while it waits is started no more") {
  PoolHouse house(1);
  for (const char* id : {"1", "2", "3"}) house.site.submit(id);
  house.turn();
  house.site.change("2").held = true;
  house.turn();
  house.site.finish("1");
  house.turn();
  CHECK(!runs(house, "2"));
  CHECK(runs(house, "3"));
}

// Starts that fail -------------------------------------------------------------------------------

TEST_CASE("a start that was refused is tried again after a minute, and others go first") {
  PoolHouse house(1);
  for (const char* id : {"1", "2"}) house.site.submit(id);
  house.site.next({PoolHouse::Fate::refused});
  house.turns(2);
  CHECK(house.actions() == "start failed, start verified");
  CHECK(runs(house, "2"));
  house.site.finish("2");
  house.turn();
  CHECK(!runs(house, "1"));
  house.turns(59);
  CHECK(runs(house, "1"));
}

TEST_CASE("a start that was lost is not repeated before it is known to have failed") {
  PoolHouse house(1);
  house.site.submit("1");
  house.site.next({PoolHouse::Fate::lost_before});
  house.turns(59);
  CHECK(house.site.calls().size() == 1);
  house.turns(70);
  CHECK(house.site.calls().size() == 2);
  CHECK(house.actions() == "start failed, start verified");
}

TEST_CASE("a start that was lost but arrived is verified, and nothing is started there") {
  PoolHouse house(1);
  for (const char* id : {"1", "2"}) house.site.submit(id);
  house.site.next({PoolHouse::Fate::lost_after});
  house.turns(3);
  CHECK(house.actions() == "start verified");
  CHECK(runs(house, "1"));
  CHECK(house.site.calls().size() == 1);
}

// Others act, too --------------------------------------------------------------------------------

TEST_CASE("a job that somebody else started keeps its GPUs") {
  PoolHouse house(2);
  house.turn();
  house.site.submit("1");
  house.site.begin("1", on_node_0);
  house.site.submit("2");
  house.turn();
  CHECK(house.site.see("2").nodes == on_node_1);
  CHECK(house.site.calls().size() == 1);
}

TEST_CASE("a job that waits and is started by somebody else, elsewhere") {
  PoolHouse house(2);
  for (const char* id : {"1", "2", "3"}) house.site.submit(id);
  house.turn();
  house.site.finish("1");
  house.site.begin("3", on_node_0);
  house.site.submit("4");
  house.turns(2);
  CHECK(house.site.calls().size() == 2);
  CHECK(!runs(house, "4"));
}

TEST_CASE("somebody else is faster: superseded, and the policy knows where the job runs") {
  PoolHouse house(2);
  house.site.submit("1");
  house.turn();
  REQUIRE(runs(house, "1"));
  house.site.next({PoolHouse::Fate::lies_refused});
  house.site.submit("2");
  house.turn();
  CHECK(house.actions() == "start verified, start verified");
  house.site.finish("1");
  house.site.submit("3");
  house.site.begin("3", on_node_0);
  house.site.submit("4");
  house.turns(2);
  CHECK(!runs(house, "4"));
}

TEST_CASE("a job that was cancelled while it waits is started no more") {
  PoolHouse house(1);
  for (const char* id : {"1", "2", "3"}) house.site.submit(id);
  house.turn();
  house.site.finish("2", EndState::cancelled);
  house.turn();
  house.site.finish("1");
  house.turn();
  CHECK(runs(house, "3"));
  CHECK(house.site.calls().size() == 2);
}

TEST_CASE("a job that went back to the queue is started again") {
  PoolHouse house(1);
  house.site.submit("1");
  house.turn();
  house.site.requeue("1");
  house.turn();
  CHECK(runs(house, "1"));
  CHECK(house.site.calls().back().restarts == 1);
  CHECK(house.told() == "arrived 1, started 1, ended 1, arrived 1, started 1");
}

// Nodes ------------------------------------------------------------------------------------------

TEST_CASE("no job is started on a node that is drained or down, and again once it is back") {
  PoolHouse house(2);
  house.site.change_node("a-0").state = NodeState::drained;
  house.turn();
  for (const char* id : {"1", "2"}) house.site.submit(id);
  house.turn();
  CHECK(house.site.see("1").nodes == on_node_1);
  CHECK(!runs(house, "2"));
  house.site.change_node("a-0").state = NodeState::down;
  house.turn();
  CHECK(!runs(house, "2"));
  house.site.change_node("a-0").state = NodeState::up;
  house.turn();
  CHECK(house.site.see("2").nodes == on_node_0);
}

TEST_CASE("a node goes down with its job, which starts elsewhere") {
  PoolHouse house(2);
  house.site.submit("1");
  house.turn();
  house.site.change_node("a-0").state = NodeState::down;
  house.site.requeue("1");
  house.turn();
  CHECK(house.site.see("1").nodes == on_node_1);
}

TEST_CASE("a node that the cluster lists no more takes no job, and does when it is back") {
  PoolHouse house(2);
  house.turn();
  const SeenNode gone = house.site.listing().nodes.front();
  house.site.listing().nodes.erase(house.site.listing().nodes.begin());
  for (const char* id : {"1", "2"}) house.site.submit(id);
  house.turn();  // may be a part
  CHECK(!runs(house, "1"));
  house.turn();
  CHECK(house.site.see("1").nodes == on_node_1);
  CHECK(!runs(house, "2"));
  house.site.change_node("a-1");  // another version
  house.site.listing().nodes.push_back(gone);
  house.turn();
  CHECK(house.site.see("2").nodes == on_node_0);
}

TEST_CASE("a node that is tested takes no job until the test has ended") {
  PoolHouse house(1);
  house.site.submit("test").token = mark_of(house.options.settings, 1);
  house.site.begin("test", on_node_0);
  house.turn();
  house.site.submit("1");
  house.turn();
  CHECK(house.book().empty());
  house.site.finish("test", EndState::completed);
  house.turn();
  CHECK(house.site.see("1").nodes == on_node_0);
}

TEST_CASE("a node of the own drains takes no job") {
  PoolHouse house(40);
  house.turn();
  house.tell(Proposed{testing::sure_drain("a-0", house.site.now())});
  house.site.submit("1");
  house.turn();
  CHECK(house.site.see("1").nodes == on_node_1);
}

// Restarts ---------------------------------------------------------------------------------------

TEST_CASE("after a restart what runs is adopted, and what waits goes on in its order") {
  PoolHouse house(2);
  for (const char* id : {"1", "2"}) house.site.submit(id);
  house.turn();
  house.site.pass(Seconds(5));
  for (const char* id : {"9", "3"}) house.site.submit(id);  // not in the order of their names
  house.turn();
  house.restart();
  house.turns(2);
  CHECK(house.site.calls().size() == 2);
  house.site.finish("2");
  house.turn();
  CHECK(runs(house, "9"));
  CHECK(house.site.see("9").nodes == on_node_1);
}

TEST_CASE(
    "a start that was on its way at a restart is read, not repeated, and nobody takes its GPUs") {
  PoolHouse house(1);
  house.site.next({PoolHouse::Fate::lost_before});
  for (const char* id : {"1", "2"}) house.site.submit(id);
  house.turn();
  house.restart();
  house.turns(3);
  CHECK(house.site.calls().size() == 1);
  CHECK(house.actions() == "start ambiguous");
  house.site.begin("1", on_node_0);
  house.turn();
  CHECK(house.actions() == "start verified");
}

// Modes ------------------------------------------------------------------------------------------

TEST_CASE("observe: nothing is decided, and the cluster is read at each poll, no faster") {
  PoolHouse house(1, pool_in(Mode::observe));
  house.turn();
  house.site.submit("1");
  house.turn();
  CHECK(house.actions().empty());
  CHECK(house.loop().next_tick() == house.site.now() + Seconds(1));
  CHECK(house.loop().next_wake() == never);
  CHECK(house.told() == "arrived 1");
}

TEST_CASE("shadow: each start is recorded once, nothing is called, and others start as they like") {
  PoolHouse house(1, pool_in(Mode::shadow));
  house.site.submit("1");
  house.turns(5);
  CHECK(house.actions() == "start shadowed");
  CHECK(house.site.calls().empty());
  house.site.submit("2");
  house.site.begin("2", on_node_0);
  house.turns(2);
  CHECK(house.actions() == "start shadowed");
  house.site.finish("2");
  house.site.finish("1", EndState::cancelled);
  house.site.submit("3");
  house.turns(2);
  CHECK(house.actions() == "start shadowed, start shadowed");
}

TEST_CASE("approve: a start waits for an operator, and its GPUs wait with it") {
  PoolHouse house(1, pool_in(Mode::approve));
  for (const char* id : {"1", "2"}) house.site.submit(id);
  house.turns(3);
  CHECK(house.actions() == "start waiting");
  CHECK(house.decide(Decided::What::approve, 1));
  house.turn();
  CHECK(runs(house, "1"));
  CHECK(house.actions() == "start verified");
}

TEST_CASE("approve: a start that was rejected makes room for the next") {
  PoolHouse house(1, pool_in(Mode::approve));
  for (const char* id : {"1", "2"}) house.site.submit(id);
  house.turns(2);
  CHECK(house.decide(Decided::What::reject, 1));
  house.turns(2);
  CHECK(house.actions() == "start rejected, start waiting");
  CHECK(house.book().at(2).call.job == "2");
  house.turns(70);
  CHECK(house.actions() == "start rejected, start waiting");
}

// Sharing ----------------------------------------------------------------------------------------

/// Puts whoever comes second beside the first, and evicts it after five seconds.
struct EvictsAfterFive {
  std::vector<bool>* alone;  ///< of those that came, in turn
  std::optional<JobId> first{}, second{};
  SimTime since{};

  void operator()(const View& view, Plan& plan) {
    for (const JobId id : view.adopted) first = first.value_or(id);
    for (const JobId id : view.arrived) {
      alone->push_back(view.job(id).alone);
      if (!first) {
        first = id;
        (void)plan.start(id, view.job(id).gpus);
      } else if (!view.job(id).alone) {
        second = id;
        since = view.now;
        plan.start_with(id, *first);
      }
    }
    if (second && view.now >= since + Seconds(5)) plan.evict(*std::exchange(second, {}));
    if (second) plan.wake_at(since + Seconds(5));
  }
};

TEST_CASE("who was evicted from GPUs that it shared shares no more, also for the next process") {
  PoolHouse house(1);
  std::vector<bool> alone;
  house.options.pool = [&](const std::string& name) {
    live::VirtualCluster::Setup setup;
    setup.name = name;
    setup.policy = EvictsAfterFive{&alone};
    setup.packs = true;
    return setup;
  };
  house.restart();
  for (const char* id : {"1", "2"}) house.site.submit(id);
  house.turns(10);
  CHECK(house.actions() == "start verified, start verified, evict verified");
  CHECK(house.site.see("2").phase == JobPhase::queued);
  CHECK(alone == std::vector<bool>{false, false, true});
  house.restart();
  house.turns(10);
  CHECK(alone == std::vector<bool>{false, false, true, true});
  CHECK(house.actions() == "start verified, start verified, evict verified");
}

}  // namespace
}  // namespace schedmate::live
