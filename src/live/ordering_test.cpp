// SPDX-License-Identifier: Apache-2.0
#include "live/ordering.hpp"

#include <doctest/doctest.h>

#include <map>
#include <string>
#include <vector>

#include "tests/support/live_house.hpp"

namespace schedmate::live {
namespace {

using testing::LiveHouse;

double gpu_seconds(const JobInfo& job) { return job.estimate.count() * job.gpus; }

/// Each user's jobs run as long as his last one.
struct AsLast {
  std::map<std::uint32_t, Seconds> last;
  void learn(const FinishedJob& job) { last[job.job.user] = job.run_time; }
  Prediction operator()(const EnteringJob& at) const {
    const auto found = last.find(at.job.user);
    return {FractionalSeconds(found == last.end() ? Seconds(3600) : found->second)};
  }
};

/// A cluster on which others start jobs. One of ann's has run for so long.
struct OrderedHouse : LiveHouse {
  explicit OrderedHouse(Mode mode = Mode::act, Seconds ran = Seconds(60))
      : LiveHouse(1, modes(mode), Pools::none) {
    options.ordering = Ordering::Setup{.work = gpu_seconds, .estimator = AsLast()};
    restart();
    turn();
    site.submit("0", 1);
    turn();
    site.begin("0", {{"a-0", {0}}});
    turn(ran);
    site.finish("0");
    turn();
  }
  static Settings modes(Mode mode) {
    Settings settings = testing::ActingDesk::all_act();
    settings.modes.order = mode;
    settings.modes.annotate = Mode::shadow;
    return settings;
  }
  /// Long enough to be looked at again.
  void look() { turns(3, Seconds(601)); }
};

TEST_CASE("an order is set once for a job, and undone as it was") {
  OrderedHouse house;
  house.site.submit("1", 1);
  house.turns(3);
  CHECK(house.site.see("1").order == 1000);
  CHECK(house.site.calls().size() == 1);
  CHECK(house.actions() == "set_order verified");
  CHECK(house.book().at(1).why.front() == "expected to run for 60 s on 1 GPU");
  house.look();
  CHECK(house.site.calls().size() == 1);
  CHECK(house.decide(Decided::What::undo, 1).has_value());
  house.turns(3);
  CHECK(house.site.see("1").order == 0);
  house.look();
  house.restart();
  house.look();
  CHECK(house.site.see("1").order == 0);  // and left so
  CHECK(house.site.calls().size() == 2);
}

TEST_CASE("who needs more is raised less, and a thousand GPU hours not at all") {
  std::vector<std::int64_t> orders;
  for (const std::int64_t hours : {0, 1, 10, 100, 999}) {
    OrderedHouse house(Mode::act, Seconds(hours * 3600 + 60));
    house.site.submit("1", 1);
    house.turns(3);
    orders.push_back(house.site.see("1").order);
  }
  CHECK(orders == std::vector<std::int64_t>{1000, 620, 400, 200, 0});
}

TEST_CASE("waiting raises, in steps, to the whole span in a week") {
  OrderedHouse house(Mode::act, Seconds(1000 * 3600));
  house.site.submit("1", 1);
  house.turns(24 * 7, Seconds(1800));
  CHECK(house.site.see("1").order == 500);
  house.turns(24 * 8, Seconds(1800));
  CHECK(house.site.see("1").order == 1000);
  CHECK(house.site.calls().size() == 50);
}

TEST_CASE("nothing is ordered before something is known") {
  LiveHouse house(1, OrderedHouse::modes(Mode::act), LiveHouse::Pools::none);
  house.options.ordering = Ordering::Setup{.work = gpu_seconds, .estimator = AsLast()};
  house.restart();
  house.site.submit("1", 1);
  house.site.submit("2", 1);
  house.turns(24 * 7, Seconds(1800));
  CHECK(house.site.calls().empty());
}

TEST_CASE("an unknown user's job stands in the middle of the known ones") {
  OrderedHouse house;
  house.site.submit("1", 1);
  house.site.submit("2", 100);
  house.site.submit("3", 4).user = "new";
  house.turns(3);
  CHECK(house.site.see("2").order == 580);
  CHECK(house.site.see("3").order == 1000);
  house.site.finish("3");
  house.site.submit("4", 100);
  house.site.submit("5", 1).user = "other";
  house.turns(3);
  CHECK(house.site.see("5").order == 580);
  CHECK(house.loop().ordering()->place(house.loop().jobs().find("5")->number)->now == 4);
}

TEST_CASE("an order of somebody else is left alone, whatever becomes of it") {
  OrderedHouse house;
  house.site.submit("1", 1).order = 7;
  house.site.submit("2", 1);
  house.site.submit("3", 1);
  house.turns(3);
  CHECK(house.site.see("1").order == 7);
  CHECK(house.site.see("2").order == 1000);
  house.site.change("2").order = 0;
  house.site.change("3").order = 50;
  house.turn();
  house.look();
  CHECK(house.site.see("2").order == 0);
  CHECK(house.site.see("3").order == 50);
  house.site.change("1").order = 0;
  house.site.change("3").order = 0;
  house.restart();
  house.look();
  CHECK(house.site.see("1").order == 0);
  CHECK(house.site.see("2").order == 0);
  CHECK(house.site.see("3").order == 0);
}

TEST_CASE("after a restart what was set is known as own, and goes on") {
  OrderedHouse house(Mode::act, Seconds(100 * 3600));
  house.site.submit("1", 1);
  house.turns(3);
  CHECK(house.site.see("1").order == 200);
  house.restart();
  house.turns(3);
  house.site.submit("9", 1);
  house.site.begin("9", {{"a-0", {0}}});
  house.turn(Seconds(3600));
  house.site.finish("9");
  house.turns(24, Seconds(1800));
  CHECK(house.site.see("1").order > 600);
  CHECK(house.site.calls().size() > 1);
}

TEST_CASE("in shadow each order is recorded once and none set, in observe none is") {
  OrderedHouse house(Mode::shadow);
  house.site.submit("1", 1);
  house.site.submit("2", 100);
  house.turns(3);
  house.look();
  CHECK(house.site.calls().empty());
  CHECK(house.actions() == "set_order shadowed, set_order shadowed");
  const auto* const job = house.loop().jobs().find("1");
  const auto place = house.loop().ordering()->place(job->number);
  REQUIRE(place);
  CHECK(place->of == 2);
  OrderedHouse blind(Mode::observe);
  blind.site.submit("1", 1);
  blind.turns(3);
  CHECK(blind.book().empty());
}

TEST_CASE("who came and started between two readings is not ordered") {
  OrderedHouse house;
  house.site.submit("1", 1);
  house.site.begin("1", {{"a-0", {0}}});
  house.turns(3);
  CHECK(house.book().empty());
  CHECK_FALSE(house.loop().ordering()->place(house.loop().jobs().find("1")->number));
}

TEST_CASE("what an operator refuses is not proposed again") {
  OrderedHouse house(Mode::approve);
  house.site.submit("1", 1);
  house.turns(3);
  CHECK(house.actions() == "set_order waiting");
  CHECK(house.decide(Decided::What::reject, 1).has_value());
  house.turns(24, Seconds(1800));
  CHECK(house.actions() == "set_order rejected");
}

TEST_CASE("a call that is lost is known as our own when it arrives late") {
  OrderedHouse house;
  house.site.next({LiveHouse::Fate::refused});
  house.site.submit("1", 1);
  house.turns(3);
  CHECK(house.actions() == "set_order failed");
  house.site.change("1").order = 1000;
  house.look();
  CHECK(house.loop().ordering()->place(house.loop().jobs().find("1")->number)->of == 1);
  CHECK(house.site.see("1").order == 1000);
}

TEST_CASE("no more than twenty orders come of one reading") {
  OrderedHouse house(Mode::shadow);
  for (int i = 1; i <= 50; ++i) house.site.submit(std::to_string(i), 1);
  house.turn();
  CHECK(house.book().size() == 20);
  house.turns(2);
  CHECK(house.book().size() == 50);
}

TEST_CASE("runs of before this process are known, and those that it saw are not counted twice") {
  LiveHouse house(1, OrderedHouse::modes(Mode::act), LiveHouse::Pools::none);
  house.options.ordering = Ordering::Setup{.work = gpu_seconds, .estimator = AsLast()};
  house.restart();
  house.turn();
  SeenJob run;
  run.id = "early";
  run.user = house.site.submit("1", 1).user;
  run.partition = house.site.see("1").partition;
  run.gpus = 1;
  run.submitted = at(0);
  run.started = at(0);
  run.ended = at(60);
  SeenJob waits = run;
  waits.ended = std::nullopt;
  house.loop().learn_past({waits});
  house.turns(3);
  CHECK(house.site.see("1").order == 0);
  house.loop().learn_past({run});
  house.turns(3, Seconds(601));
  CHECK(house.site.see("1").order == 1000);
}

TEST_CASE("what is expected goes into the note where that is allowed, and over nobody's words") {
  for (const Mode mode : {Mode::shadow, Mode::act}) {
    Settings settings = OrderedHouse::modes(Mode::act);
    settings.modes.annotate = mode;
    OrderedHouse house;
    house.options.settings = settings;
    house.restart();
    house.turn();
    house.site.submit("8", 1);
    house.site.begin("8", {{"a-0", {0}}});
    house.turn(Seconds(60));
    house.site.finish("8");
    house.site.submit("1", 1);
    house.site.submit("2", 1).note = "ann was here";
    house.site.submit("3", 1).note = "schedmate-tag=12ab.7";
    house.turns(8);
    const bool writes = mode == Mode::act;
    CHECK(house.site.see("1").note ==
          (writes ? "schedmate: expected to run for 60 s on 1 GPU" : ""));
    CHECK(house.site.see("2").note == "ann was here");
    CHECK(house.site.see("3").note ==
          (writes ? "schedmate-tag=12ab.7 schedmate: expected to run for 60 s on 1 GPU"
                  : "schedmate-tag=12ab.7"));
    CHECK(house.site.see("1").order == 1000);
    CHECK(house.actions().contains("annotate") == writes);
  }
}

TEST_CASE("a priority that somebody has fixed is left alone until that is taken back") {
  OrderedHouse house;
  house.site.submit("1", 1).fixed = true;
  house.site.submit("2", 1);
  house.turns(3);
  CHECK(house.site.see("1").order == 0);
  CHECK(house.site.see("2").order == 1000);
  house.site.change("2").fixed = true;
  house.turn();
  house.look();
  house.site.change("1").fixed = false;
  house.site.change("2").fixed = false;
  house.turn();
  house.look();
  CHECK(house.site.see("1").order == 1000);
  CHECK(house.site.calls().size() == 2);
}

TEST_CASE("a site's own range of work and of waiting") {
  OrderedHouse house(Mode::act, Seconds(100));
  house.options.ordering->least_work = 10;
  house.options.ordering->most_work = 1000;
  house.options.ordering->ageing = Seconds(1000);
  house.restart();
  house.turn();
  house.site.submit("9", 1);
  house.site.begin("9", {{"a-0", {0}}});
  house.turn(Seconds(100));
  house.site.finish("9");
  house.site.submit("1", 1);
  house.turns(3);
  CHECK(house.site.see("1").order == 500);
  house.turns(30, Seconds(20));
  CHECK(house.site.see("1").order == 1000);
}

TEST_CASE("what each would be given is known at once, though few are told at a time") {
  OrderedHouse house(Mode::shadow);
  for (int i = 1; i <= 50; ++i) house.site.submit(std::to_string(i), 1);
  house.site.submit("new", 1).user = "new";
  house.turn();
  const auto would_be = [&](const std::string& id) {
    return house.loop().ordering()->would_be(house.loop().jobs().find(id)->number);
  };
  CHECK(would_be("50")->order == 1000);
  CHECK(would_be("50")->known);
  CHECK(would_be("new")->order == 1000);
  CHECK_FALSE(would_be("new")->known);
  CHECK_FALSE(house.loop().ordering()->would_be(12'345));
}

}  // namespace
}  // namespace schedmate::live
