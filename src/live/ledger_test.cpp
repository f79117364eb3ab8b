// SPDX-License-Identifier: Apache-2.0
/// GPU time that is counted once for each attempt.
#include "live/ledger.hpp"

#include <doctest/doctest.h>

#include <map>
#include <string>

#include "tests/support/live_house.hpp"

namespace schedmate::live {
namespace {

using House = testing::LiveHouse;
constexpr std::int64_t day_s = 86400;

SeenJob ended(const std::string& user, std::int64_t from_s, std::int64_t to_s,
              EndState how = EndState::completed) {
  SeenJob job;
  job.user = user;
  job.gpus = 2;
  job.phase = JobPhase::ended;
  job.end_state = how;
  job.started = at(from_s);
  job.ended = at(to_s);
  return job;
}

GpuTime sum_of(const Ledger& ledger) {
  GpuTime sum;
  for (const auto& [day, users] : ledger.days())
    for (const auto& [user, time] : users) sum.add(time);
  return sum;
}

GpuTime::Loss lost_by(const Ledger& ledger, LossCause cause) {
  return sum_of(ledger).lost.at(static_cast<std::size_t>(cause));
}

void keep(std::map<std::string, std::string>& kept, Ledger& ledger) {
  for (const journal::Kept& each : ledger.take())
    if (each.value.empty())
      kept.erase(each.name);
    else
      kept[each.name] = each.value;
}

}  // namespace

TEST_CASE("GPU time is GPUs times run time, on the day of the end, by user") {
  Ledger ledger;
  ledger.note(ended("ann", 0, 100), at(100));
  ledger.note(ended("ann", 100, 150, EndState::failed), at(150));
  ledger.note(ended("bob", 0, day_s + 5, EndState::requeued), at(day_s + 5));
  SeenJob never_ran = ended("bob", 0, 0, EndState::cancelled);
  never_ran.started.reset();
  ledger.note(never_ran, at(day_s + 5));
  REQUIRE(ledger.days().size() == 2);
  const GpuTime& ann = ledger.days().at(0).at("ann");
  CHECK(ann.used_gpu_s == 300);
  CHECK(ann.jobs == 2);
  CHECK(ann.lost_gpu_s() == 100);
  CHECK(ann.lost.at(static_cast<std::size_t>(LossCause::failed)).attempts == 1);
  const GpuTime& bob = ledger.days().at(1).at("bob");
  CHECK(bob.jobs == 0);  // it goes on
  CHECK(bob.lost_gpu_s() == 2 * (day_s + 5));
  CHECK(ledger.since() == at(0));
}

TEST_CASE("what somebody cancels was used, and is not lost") {
  Ledger ledger;
  ledger.note(ended("ann", 0, 100, EndState::cancelled), at(100));
  CHECK(sum_of(ledger).used_gpu_s == 200);
  CHECK(sum_of(ledger).lost_gpu_s() == 0);
  // Daemons of before counted it: place 5 of the causes.
  Ledger next;
  next.restore({{"ledger 0 ann", "200 1 0 0 70 1 0 0 0 0 200 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0"}});
  CHECK(sum_of(next).used_gpu_s == 200);
  CHECK(sum_of(next).lost_gpu_s() == 70);
}

TEST_CASE("what is kept is what another process begins with") {
  Ledger ledger;
  std::map<std::string, std::string> kept{{"ledger 3", "x"}, {"ledger x y", "1 2"}};
  ledger.note(ended("a b", 0, 100, EndState::timeout), at(100));
  keep(kept, ledger);
  CHECK(ledger.take().empty());
  Ledger next;
  next.restore(kept);
  CHECK(next.since() == at(0));
  next.note(ended("a b", 100, 200), at(200));
  CHECK(next.days().at(0).at("a b").used_gpu_s == 400);
  CHECK(sum_of(next).lost_gpu_s() == 200);
}

TEST_CASE("what samples say of it is kept, and is no more than was used") {
  Ledger ledger;
  std::map<std::string, std::string> kept;
  ledger.note(ended("ann", 0, 100), at(100), {.gpu_s = 180, .idle_gpu_s = 40});
  ledger.note(ended("ann", 100, 200), at(200), {.gpu_s = 900, .idle_gpu_s = 300});
  ledger.note(ended("ann", 200, 300), at(300), {.gpu_s = -5, .idle_gpu_s = -7});
  keep(kept, ledger);
  Ledger next;
  next.restore(kept);
  CHECK(sum_of(next).sampled.gpu_s == 180 + 200);
  CHECK(sum_of(next).sampled.idle_gpu_s == 40 + 200);
}

TEST_CASE("of a failure its log says why, once; where the cluster says it that stands") {
  Ledger ledger;
  std::map<std::string, std::string> kept;
  for (const EndState how : {EndState::failed, EndState::timeout, EndState::node_fail}) {
    const SeenJob job = ended("ann", 0, 100, how);
    ledger.note(job, at(100));
    ledger.explain(job, FailureClass::other);
    keep(kept, ledger);
    ledger.explain(job, FailureClass::user_script);
  }
  keep(kept, ledger);
  Ledger next;
  next.restore(kept);
  CHECK(lost_by(next, LossCause::user_script).gpu_s == 400);
  CHECK(lost_by(next, LossCause::user_script).attempts == 2);
  CHECK(lost_by(next, LossCause::failed).attempts == 0);
  CHECK(lost_by(next, LossCause::timeout).gpu_s == 0);
  CHECK(lost_by(next, LossCause::node_fail).gpu_s == 200);
  CHECK(sum_of(next).lost_gpu_s() == 600);
  next.explain(ended("bob", 0, 100, EndState::failed), FailureClass::framework);  // never noted
  CHECK(sum_of(next).lost_gpu_s() == 600);
}

TEST_CASE("a repeat that was avoided is kept") {
  Ledger ledger;
  std::map<std::string, std::string> kept;
  const SeenJob job = ended("ann", 0, 100, EndState::failed);
  ledger.note(job, at(100));
  ledger.note_avoided(job, Seconds(40));
  keep(kept, ledger);
  Ledger next;
  next.restore(kept);
  CHECK(sum_of(next).repeats.gpu_s == 80);
  CHECK(sum_of(next).repeats.attempts == 1);
}

TEST_CASE("days over a year are summed, and the oldest where there are too many rows") {
  Ledger ledger(10);
  std::map<std::string, std::string> kept;
  for (int day = 0; day < 500; ++day) {
    ledger.note(ended(day % 2 == 0 ? "ann" : "bob", day * day_s, day * day_s + 100),
                at(day * day_s + 100));
    keep(kept, ledger);
  }
  CHECK(sum_of(ledger).used_gpu_s == 500 * 200);
  CHECK(sum_of(ledger).jobs == 500);
  CHECK(ledger.days().at(Ledger::before_days).size() == 2);
  CHECK(kept.size() <= 11);
  Ledger next(10);
  next.restore(kept);
  CHECK(sum_of(next).used_gpu_s == 500 * 200);
  Ledger year;
  for (const int day : {0, 1, 366})
    year.note(ended("ann", day * day_s, day * day_s + 1), at(day * day_s + 1));
  CHECK(year.days().size() == 3);  // before, 1 and 366
  CHECK(!year.days().contains(0));
}

TEST_CASE("a cluster that lies overflows nothing") {
  Ledger ledger;
  SeenJob job = ended("ann", INT64_MIN, INT64_MAX);
  job.gpus = INT32_MAX;
  for (int i = 0; i < 1000; ++i) ledger.note(job, at(10));
  job = ended("ann", 10, 5);
  job.gpus = -1;
  ledger.note(job, at(10));
  CHECK(sum_of(ledger).used_gpu_s > 0);
}

TEST_CASE("the loop counts each attempt once, across restarts, also a requeue that nobody saw") {
  House house(4, testing::ActingDesk::all_in(Mode::observe));
  house.options.sampled = [](const SeenJob& ended) {
    return Sampled{.gpu_s = 200, .idle_gpu_s = 10 * (ended.restarts + 1)};
  };
  house.site.submit("1");
  house.turn();
  house.site.begin("1", {{"a-0", {0, 1, 2, 3}}});
  house.turn(Seconds(100));
  house.restart();  // before it was requeued
  house.site.requeue("1");
  house.turn(Seconds(10));
  CHECK(sum_of(house.loop().ledger()).used_gpu_s == 4 * 110);
  house.restart();
  house.turn();
  CHECK(sum_of(house.loop().ledger()).used_gpu_s == 4 * 110);
  house.site.begin("1", {{"a-1", {0, 1, 2, 3}}});
  house.turn(Seconds(50));
  house.site.finish("1", EndState::node_fail);
  house.turn();
  const GpuTime sum = sum_of(house.loop().ledger());
  CHECK(sum.sampled.gpu_s == 2 * 200);
  CHECK(sum.sampled.idle_gpu_s == 10 + 20);
  CHECK(sum.jobs == 1);
  CHECK(sum.lost.at(static_cast<std::size_t>(LossCause::requeued)).gpu_s == 4 * 110);
  CHECK(sum.lost.at(static_cast<std::size_t>(LossCause::node_fail)).attempts == 1);
  CHECK(sum.used_gpu_s == sum.lost_gpu_s());
}

TEST_CASE("the attempts before the present one are known, also to the next process") {
  House house(4, testing::ActingDesk::all_in(Mode::observe));
  house.site.submit("1");
  house.turn();
  const SimTime first = house.site.now();
  house.site.begin("1", {{"a-0", {0, 1}}, {"a-1", {2, 3}}});
  house.turn(Seconds(100));
  house.site.requeue("1");
  house.turn(Seconds(10));
  const auto check = [&] {
    const Attempt* const attempt = house.loop().jobs().find("1");
    REQUIRE(attempt != nullptr);
    REQUIRE(attempt->past.size() == 1);
    const PastRun& run = attempt->past.front();
    CHECK(run.restarts == 0);
    CHECK(run.started == first);
    CHECK(run.ended == first + Seconds(110));
    CHECK(run.end_state == EndState::requeued);
    CHECK(run.nodes == std::vector<NodeGpus>{{"a-0", {0, 1}}, {"a-1", {2, 3}}});
  };
  check();
  house.restart();
  house.turn();
  check();
  for (int i = 0; i < 50; ++i) {
    house.site.requeue("1");
    house.turn();
  }
  CHECK(house.loop().jobs().find("1")->past.size() == 20);
  house.site.forget("1");
  house.site.pass(Seconds(5));
  house.site.submit("1");
  house.turn();
  CHECK(house.loop().jobs().find("1")->past.empty());
}

/// Job 1 fails twice of the same cause at step 7, 40 and then 30 s after its starts.
struct TwiceFailed {
  House house;
  explicit TwiceFailed(live::Settings settings) : house(8, std::move(settings)) {
    house.studies = [](const Study& study) -> Result<Finding> {
      if (study.what == Study::What::log) return LogFound{.step = 7, .file = 1, .bytes = 1};
      if (study.what == Study::What::code) return CodeFound{};
      return CauseFound{.verdict = FailureClass::infrastructure,
                        .component = Component::storage,
                        .recommendation = Recommendation::restart_same,
                        .reason = "the share was away",
                        .fingerprint = "f1",
                        .step = 7};
    };
    house.site.submit("1", 4).output = "/log";
    for (const int run_s : {40, 30}) {
      while (house.site.see("1").phase != JobPhase::running) house.turn();
      house.site.pass(*house.site.see("1").started + Seconds(run_s) - house.site.now());
      house.turn();
      house.site.finish("1", EndState::failed);
      house.turns(3);
    }
  }
};

TEST_CASE("the loop counts by the log's cause, and the repeat that it has avoided, once") {
  TwiceFailed there(testing::ActingDesk::all_act());
  const auto check = [&] {
    const GpuTime sum = sum_of(there.house.loop().ledger());
    CHECK(sum.lost.at(static_cast<std::size_t>(LossCause::infrastructure)).attempts == 2);
    CHECK(sum.lost.at(static_cast<std::size_t>(LossCause::failed)).attempts == 0);
    CHECK(sum.repeats.attempts == 1);
    CHECK(sum.repeats.gpu_s >= 4 * 30);
    CHECK(sum.repeats.gpu_s < 4 * 40);
  };
  check();
  CHECK(there.house.loop().lives().find("1")->earlier.at(0).reason == "the share was away");
  CHECK(there.house.loop().lives().find("1")->earlier.at(0).restarts == 0);
  there.house.restart();
  there.house.turns(3);
  check();
  CHECK(there.house.loop().lives().find("1")->earlier.at(0).reason == "the share was away");
}

TEST_CASE("where nobody would have started it again nothing was avoided") {
  live::Settings settings = testing::ActingDesk::all_act();
  settings.caps.requeues_per_job = 1;
  CHECK(sum_of(TwiceFailed(settings).house.loop().ledger()).repeats.attempts == 0);
}

}  // namespace schedmate::live
