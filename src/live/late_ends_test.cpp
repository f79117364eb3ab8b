// SPDX-License-Identifier: Apache-2.0
/// Clusters that show how a job ended only once its nodes are clear, or lost.
#include <doctest/doctest.h>

#include <string>
#include <utility>

#include "live/recovery.hpp"
#include "tests/support/failing_house.hpp"

namespace schedmate::live {
namespace {

using testing::cause_of;
using testing::FailingHouse;

/// Where ends are shown late, unless `late` is false.
struct LateHouse : FailingHouse {
  explicit LateHouse(bool late = true) {
    house.options.ends_when_clear = late;
    house.restart();
  }
  /// Runs; a node of it.
  std::string begin(const std::string& job) {
    house.site.submit(job).output = "/log";
    house.turns(3);
    return house.site.see(job).nodes.front().node;
  }
};

TEST_CASE("a node that goes with a job that ended well is noticed where ends are shown late") {
  for (const bool late : {false, true}) {
    LateHouse there(late);
    there.cause = cause_of(FailureClass::none);
    const std::string node = there.begin("1");
    there.begin("2");
    there.house.site.finish("1", EndState::completed);
    there.house.site.finish("2", EndState::completed);
    there.house.turns(1);  // nodes are read in a reading of their own
    there.house.site.change_node(node).state = NodeState::down;
    there.house.turns(3);
    CHECK(there.house.actions() == (late ? "start verified, start verified, notify verified"
                                         : "start verified, start verified"));
    if (!late) continue;
    CHECK(there.house.book().at(3).call.job == "1");
    CHECK(there.house.book().at(3).call.text.contains("see whether its results are whole"));
  }
}

TEST_CASE("it is noticed by readings, however often somebody else has them made") {
  for (const auto& [between, seconds] : {std::pair(1, 20), std::pair(30, 0)}) {
    LateHouse there;
    there.house.options.poll = Seconds(0);
    there.house.restart();
    there.cause = cause_of(FailureClass::none);
    const std::string node = there.begin("1");
    there.house.site.finish("1", EndState::completed);
    there.house.turns(between, Seconds(seconds));
    there.house.site.change_node(node).state = NodeState::down;
    there.house.turns(3, Seconds(seconds));
    CHECK(there.house.actions() == "start verified, notify verified");
  }
}

TEST_CASE("a node that is lost long after a job ended well is nobody's") {
  LateHouse there;
  const std::string node = there.begin("1");
  there.house.site.finish("1", EndState::completed);
  there.house.turns(10);
  there.house.site.change_node(node).state = NodeState::down;
  there.house.turns(5);
  CHECK(there.house.actions() == "start verified");
}

TEST_CASE("an end that is shown late has its minute for witnesses from then on") {
  for (const bool restarted : {false, true}) {
    LateHouse there;
    there.cause = cause_of(FailureClass::other);
    const std::string node = there.begin("1");
    there.house.turns(300);
    there.house.site.finish("1", EndState::failed);
    there.house.site.change("1").ended = there.house.site.now() - Seconds(250);
    there.house.site.change("1").exit_signal = 9;
    there.house.turns(2);  // its nodes come in a later reading
    if (restarted) there.house.restart();
    there.house.turns(2);
    CHECK(there.house.actions() == "start verified");
    there.house.site.change_node(node).state = NodeState::down;
    there.house.turns(3);
    CHECK(there.house.actions().starts_with(
        "start verified, requeue_excluding verified, notify verified"));
  }
  FailingHouse nobody;
  nobody.cause = cause_of(FailureClass::other);
  nobody.house.site.submit("1").output = "/log";
  nobody.house.turns(300);
  nobody.house.site.finish("1", EndState::failed);
  nobody.house.site.change("1").ended = nobody.house.site.now() - Seconds(250);
  nobody.house.site.change("1").exit_signal = 9;
  nobody.house.turns(70);
  CHECK(nobody.house.actions() == "start verified, notify verified");
}

}  // namespace
}  // namespace schedmate::live
