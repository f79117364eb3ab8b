// SPDX-License-Identifier: Apache-2.0
/// What the daemon remembers of the cluster, bounded.
#include "daemon/history.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tests/support/live_house.hpp"

namespace schedmate::daemon {

using House = testing::LiveHouse;

TEST_CASE("use and queue of a day, every five minutes at most") {
  House house(4);
  house.site.submit("1");
  house.site.submit("2", 100);  // fits nowhere
  house.site.change_node("a-3").state = NodeState::down;
  house.turns(2);
  ClusterHistory history;
  SimTime now = at(0);
  for (int i = 0; i < 3000; ++i, now += Seconds(60)) history.note(house.loop(), now);
  REQUIRE(history.samples().size() == 289);
  CHECK(history.samples().at(1).when - history.samples().at(0).when == Seconds(300));
  CHECK(history.samples().back().when - history.samples().front().when == Seconds(86400));
  CHECK(history.samples().back().gpus == 12);
  CHECK(history.samples().back().gpus_used == 4);
  CHECK(history.samples().back().waiting == 1);
  history.note(house.loop(), now + Seconds(7 * 86400));
  CHECK(history.samples().size() == 1);
}

TEST_CASE("the last actions about a job, as long as the cluster shows it") {
  House house(4);
  house.site.submit("1");
  house.turn();
  JobActions actions;
  for (int i = 0; i < 30; ++i) {
    actions.note("1", i);
    actions.note("1", i);
  }
  CHECK(actions.of("1").size() == 10);
  CHECK(actions.of("1").back() == 29);
  CHECK(actions.of("2").empty());
  for (int i = 0; i < 5000; ++i) actions.note("gone " + std::to_string(i), i);
  actions.keep(house.loop().jobs());
  CHECK(actions.of("gone 7").empty());
  CHECK(actions.of("1").size() == 10);
}

}  // namespace schedmate::daemon
