// SPDX-License-Identifier: Apache-2.0
#include "live/lives.hpp"

#include <doctest/doctest.h>

#include <ranges>
#include <string>

#include "tests/support/live_house.hpp"

namespace schedmate::live {
namespace {

using testing::LiveHouse;
using enum Study::What;

/// What is asked of those who read, and what they say.
struct Readers {
  std::vector<Study> asked{};
  std::function<Result<Finding>(const Study&)> say = [](const Study& study) -> Result<Finding> {
    if (study.what == code) return CodeFound{.source = "similar"};
    if (study.what == log) return LogFound{.file = 1, .bytes = 10};
    return CauseFound{.verdict = FailureClass::user_script, .reason = "a typing error"};
  };
  [[nodiscard]] long count(Study::What what) const {
    return std::ranges::count(asked, what, &Study::what);
  }
};

/// A house whose jobs have code and a log.
struct ReadingHouse {
  explicit ReadingHouse(live::Settings settings = testing::ActingDesk::all_act())
      : house(4, std::move(settings)) {
    house.studies = [this](const Study& study) {
      readers.asked.push_back(study);
      return readers.say(study);
    };
  }
  SeenJob& submit(const std::string& id) {
    SeenJob& job = house.site.submit(id);
    job.dir = "/r";
    job.command = "python train.py";
    job.output = "/r/" + id + ".log";
    return job;
  }
  [[nodiscard]] const Life& life(const std::string& id) {
    const Life* const found = house.loop().lives().find(id);
    REQUIRE(found != nullptr);
    return *found;
  }
  LogFound look{.step = 1, .step_time_s = 1, .file = 1, .bytes = 1};
  /// The log says this from now on, and time passes until it is looked at.
  void log_says(double step, std::uint64_t bytes) {
    look.step = step;
    look.bytes = bytes;
    readers.say = [this](const Study& study) -> Result<Finding> {
      if (study.what == code) return CodeFound{};
      return look;
    };
    house.turn(Seconds(30));
  }
  LiveHouse house;
  Readers readers{};
};

TEST_CASE("a job's code is read when it comes, its log while it runs, its failure when it failed") {
  ReadingHouse there;
  there.submit("1");
  there.house.turn();
  CHECK(there.readers.count(code) == 1);
  CHECK(there.life("1").code->source == "similar");
  there.house.turns(3);
  CHECK(there.readers.count(log) == 0);
  there.house.turns(70);
  CHECK(there.readers.count(log) == 2);
  there.house.site.finish("1", EndState::failed);
  there.house.turn();
  CHECK(there.readers.count(failure) == 1);
  CHECK(there.life("1").cause->reason == "a typing error");
  CHECK(there.life("1").health() == Health::failed);
  there.house.turns(70);
  CHECK(there.readers.asked.size() == 4);  // nothing more
}

TEST_CASE("nothing is read of a job without code and log, nor of one that completed") {
  ReadingHouse there;
  there.house.site.submit("1");
  there.submit("2").command.clear();
  there.house.turns(2);
  there.house.site.finish("1", EndState::failed);
  there.house.site.finish("2");
  there.house.turns(5);
  CHECK(there.readers.asked.empty());
}

TEST_CASE("a job that failed while nobody was there is read afterwards, and told of once") {
  ReadingHouse there;
  there.submit("1");
  there.house.turns(2);
  there.house.site.finish("1", EndState::failed);
  there.house.restart();
  there.house.turns(2);
  CHECK(there.readers.count(failure) == 1);
  const std::string once = there.house.actions();
  CHECK(once == "start verified, notify verified");
  there.house.restart();
  there.house.turns(5);
  CHECK(there.readers.count(failure) == 1);
  CHECK(there.house.actions() == once);
  CHECK(there.life("1").cause->reason == "a typing error");  // known without reading again
}

TEST_CASE("what may pass is tried again, later each time; what may not is said") {
  for (const ErrorCode error : {ErrorCode::unavailable, ErrorCode::timeout}) {
    ReadingHouse there;
    int tries = 0;
    there.readers.say = [&](const Study& study) -> Result<Finding> {
      if (study.what != failure) return CodeFound{};
      ++tries;
      return fail(error, "the share does not answer");
    };
    there.submit("1");
    there.house.turns(2);
    there.house.site.finish("1", EndState::failed);
    there.house.turns(58);
    CHECK(tries == 1);
    there.house.turns(3600);
    CHECK(tries == 6);
    CHECK(!there.life("1").cause->judged);
    CHECK(there.life("1").cause->reason.empty());  // of that it did not fail
    CHECK(there.life("1").note == "the share does not answer");
    for (const Action& each : there.house.book() | std::views::values)
      CHECK_FALSE(each.call.text.contains("the share does not answer"));
    there.house.restart();
    there.house.turns(3);
    CHECK(there.life("1").note == "the share does not answer");
  }
}

TEST_CASE("a failure that nobody ever reads is told of in the end") {
  ReadingHouse there;
  there.house.options.lives.queue.given_up = Seconds(50);
  there.house.restart();
  there.submit("1");
  there.house.turns(2);
  there.house.deaf = true;
  there.house.site.finish("1", EndState::failed);
  there.house.turns(500);
  CHECK(!there.life("1").cause);
  there.house.turns(3000);
  REQUIRE(there.life("1").cause);
  CHECK(!there.life("1").cause->judged);
  CHECK(there.house.actions() == "start verified, notify verified");
}

TEST_CASE("an error is forgotten once a study went well") {
  ReadingHouse there;
  int looks = 0;
  there.readers.say = [&](const Study& study) -> Result<Finding> {
    if (study.what != log) return CodeFound{};
    if (++looks % 2 == 1) return fail(ErrorCode::unavailable, "for now");
    return LogFound{.step = looks, .file = 1, .bytes = 1};
  };
  there.submit("1");
  there.house.turns(1500);
  // Each error is tried again after a minute; as the seventh in a row it would not be.
  CHECK(looks > 2 * 10);
}

TEST_CASE("a log that is replaced or cut begins anew") {
  ReadingHouse there;
  there.submit("1");
  there.house.turns(2);
  for (int i = 1; i <= 5; ++i) there.log_says(10 * i, 100 * static_cast<std::uint64_t>(i));
  CHECK(there.life("1").points.size() == 5);
  CHECK(there.life("1").points.back().step == 50);
  there.log_says(60, 50);  // shorter
  CHECK(there.life("1").points.size() == 1);
  there.log_says(70, 100);
  there.look.file = 2;
  there.log_says(80, 100);
  CHECK(there.life("1").points.size() == 1);
  there.log_says(3, 200);  // the same file, and steps from the beginning
  CHECK(there.life("1").points.size() == 1);
}

TEST_CASE("health: steps that come are ok, slower ones slow, none for long hung") {
  ReadingHouse there;
  there.submit("1");
  there.house.turns(2);
  CHECK(there.life("1").health() == Health::unknown);
  for (int i = 1; i <= 8; ++i) there.log_says(30 * i, 100 * static_cast<std::uint64_t>(i));
  CHECK(there.life("1").health() == Health::ok);
  there.look.step_time_s = 1.6;
  there.log_says(300, 900);
  CHECK(there.life("1").health() == Health::slow);
  there.look.step_time_s = 1;
  there.look.recent_step_s = 1.6;
  there.log_says(300, 900);
  CHECK(there.life("1").health() == Health::slow);
  there.look.recent_step_s = 1;
  for (int i = 0; i < 20; ++i) there.log_says(300, 900);
  CHECK(there.life("1").health() == Health::hung);
}

TEST_CASE("an answer that comes late says how the log was when it was asked for") {
  SeenJob job;
  job.id = "1";
  job.output = "/r/1.log";
  job.phase = JobPhase::running;
  job.started = at(0);
  Listing listing;
  listing.version = 1;
  listing.jobs = {job};
  Jobs jobs;
  Lives lives({.follow = Seconds(5)});
  for (const Change& change : jobs.take(listing)) lives.follow(change, at(0));
  const auto look = [&](int now, int answered, double step) {
    const auto studies = lives.take(jobs, at(now));
    REQUIRE(studies.size() == 1);
    (void)lives.returned(studies[0].number, LogFound{.step = step, .file = 1, .bytes = 1},
                         at(answered));
  };
  for (int i = 1; i <= 6; ++i) look(10 * i, 10 * i, i);
  look(65, 365, 6);
  CHECK(lives.find("1")->looked == at(65));
  CHECK(lives.find("1")->health() == Health::ok);
  CHECK(lives.hanging().empty());
  look(370, 370, 6);
  CHECK(lives.hanging().contains("1"));
}

TEST_CASE("a log that cannot be read is told once") {
  SeenJob job;
  job.id = "1";
  job.output = "/r/1.log";
  job.phase = JobPhase::running;
  job.started = at(0);
  Listing listing;
  listing.version = 1;
  listing.jobs = {job};
  Jobs jobs;
  Lives lives({.follow = Seconds(5)});
  for (const Change& change : jobs.take(listing)) lives.follow(change, at(0));
  const auto look = [&](int now, const Result<Finding>& found) {
    const auto studies = lives.take(jobs, at(now));
    REQUIRE(studies.size() == 1);
    return lives.returned(studies[0].number, found, at(now)).has_value();
  };
  const auto unread = fail(ErrorCode::not_found, "/r/1.log: cannot open");
  CHECK(look(10, unread));
  CHECK_FALSE(look(20, unread));
  CHECK(look(30, fail(ErrorCode::refused, "/r/1.log: cannot open: Permission denied")));
  CHECK(look(40, LogFound{.step = 1, .file = 1, .bytes = 1}));
  CHECK(look(50, unread));
}

TEST_CASE("how fast its steps were is known in the next attempt") {
  SeenJob job;
  job.id = "1";
  job.output = "/r/1.log";
  job.phase = JobPhase::running;
  Listing listing;
  Jobs jobs;
  Lives lives({.follow = Seconds(5)});
  for (const std::int64_t restarts : {0, 1}) {
    job.restarts = restarts;
    job.started = at(100 * restarts);
    listing.version = restarts + 1;
    listing.jobs = {job};
    for (const Change& change : jobs.take(listing)) lives.follow(change, *job.started);
    const auto studies = lives.take(jobs, *job.started + Seconds(5));
    REQUIRE(studies.size() == 1);
    (void)lives.returned(
        studies[0].number,
        LogFound{
            .step = 10, .step_time_s = static_cast<double>(restarts + 1), .file = 1, .bytes = 1},
        *job.started + Seconds(5));
  }
  CHECK(*lives.find("1")->fastest_step_s == 1);
  CHECK(*lives.find("1")->log->step_time_s == 2);
  Lives next;  // of another process
  REQUIRE(next.restore("1", lives.text("1")));
  for (const Change& change : Jobs().take(listing)) next.follow(change, at(200));
  CHECK(*next.find("1")->fastest_step_s == 1);
}

TEST_CASE("what was found of a job that runs goes on in the next loop") {
  ReadingHouse there;
  there.submit("1");
  there.house.turns(2);
  for (int i = 1; i <= 8; ++i) there.log_says(30 * i, 100 * static_cast<std::uint64_t>(i));
  there.look.step_time_s = 1.6;
  there.log_says(300, 900);
  CHECK(there.life("1").health() == Health::slow);
  const auto earlier = there.house.loop().lives().all();
  there.readers.asked.clear();
  there.house.restart();
  there.house.loop().recall(earlier);
  there.house.turn();
  CHECK(there.life("1").health() == Health::slow);
  CHECK(there.life("1").points.size() == 9);
  there.log_says(320, 1000);
  CHECK(there.life("1").health() == Health::slow);  // beside its steps of before
  CHECK(there.life("1").points.size() == 10);
  CHECK(there.readers.count(code) == 0);
  there.house.site.finish("1");
  there.house.turn();
  CHECK(there.life("1").points.size() == 10);  // what the history is told
}

TEST_CASE("what was found of another attempt, or of another job, is not gone on with") {
  const auto found_of = [](ReadingHouse& there) {
    there.submit("1");
    there.house.turns(2);
    there.log_says(30, 100);
    return there.house.loop().lives().all();
  };
  {  // started again while nobody was there
    ReadingHouse there;
    const auto earlier = found_of(there);
    there.house.site.requeue("1");
    there.house.restart();
    there.house.loop().recall(earlier);
    there.house.turn();
    CHECK(there.life("1").points.empty());
    CHECK(!there.life("1").log);
    CHECK(there.life("1").code);
    CHECK(there.life("1").fastest_step_s == 1);
  }
  {  // its id came again
    ReadingHouse there;
    const auto earlier = found_of(there);
    there.house.site.forget("1");
    there.submit("1");
    there.house.restart();
    there.house.loop().recall(earlier);
    there.house.turn();
    CHECK(there.life("1").points.empty());
    CHECK(!there.life("1").fastest_step_s);
    CHECK(there.readers.count(code) == 2);
  }
  {  // it was found of what the journal does not know
    ReadingHouse there;
    auto earlier = found_of(there);
    there.house.restart();
    earlier["1"].restarts = 1;
    earlier["2"] = earlier["1"];
    there.house.loop().recall(earlier);
    CHECK(there.house.loop().lives().all().empty());
  }
}

TEST_CASE("a job that the journal says hangs, and whose log has moved on, does not hang") {
  Lives lives;
  REQUIRE(lives.restore("1", R"({"submitted_s": 5, "hang": {"since_s": 9, "step": 30}})"));
  lives.recall("1", {.submitted = at(5), .log = LogFound{.step = 30}});
  CHECK(lives.find("1")->hang);
  lives.recall("1", {.submitted = at(5), .log = LogFound{.step = 31}});
  CHECK(!lives.find("1")->hang);
}

TEST_CASE("a hang that is over is over for the next process, and nothing of it stays") {
  ReadingHouse there;
  const auto hangs = [&] { return there.life("1").health() == Health::hung; };
  there.submit("1");
  there.house.turns(2);
  for (int i = 1; i <= 8; ++i) there.log_says(30 * i, 100 * static_cast<std::uint64_t>(i));
  for (int i = 0; i < 20; ++i) there.log_says(240, 900);
  CHECK(hangs());
  CHECK(there.house.kept().contains(Lives::key("1")));
  there.log_says(270, 1000);
  CHECK(!hangs());
  CHECK(!there.house.kept().contains(Lives::key("1")));
  there.house.restart();
  there.house.turn();
  CHECK(there.house.loop().lives().hanging().empty());
}

TEST_CASE("how its steps ended is kept with why it failed") {
  Lives lives;
  REQUIRE(lives.restore("1", R"({"submitted_s": 5, "cause": {"judged": true, "steps": [
      {"id": "0", "name": "train", "state": "failed", "exit_code": 3, "nodes": ["n0"],
       "ended_s": 9}]}})"));
  Lives next;  // of another process
  REQUIRE(next.restore("1", lives.text("1")));
  const auto& steps = next.find("1")->cause->steps;
  REQUIRE(steps.size() == 1);
  CHECK(steps[0] == SeenStep{.id = "0",
                             .name = "train",
                             .end_state = EndState::failed,
                             .exit_code = 3,
                             .nodes = {"n0"},
                             .ended = at(9)});
}

TEST_CASE("points are thinned, and stay in order") {
  ReadingHouse there;
  there.house.options.lives.most_points = 16;
  there.house.restart();
  there.submit("1");
  there.house.turns(2);
  for (int i = 1; i <= 100; ++i) there.log_says(i, 100 * static_cast<std::uint64_t>(i));
  const auto& points = there.life("1").points;
  CHECK(points.size() <= 16);
  CHECK(points.size() >= 8);
  CHECK(points.front().step == 1);
  CHECK(points.back().step == 100);
  CHECK(std::ranges::is_sorted(points, {}, &Life::Point::step));
}

TEST_CASE("advice that comes later changes what waits") {
  ReadingHouse there;
  std::vector<double> expected;
  there.house.options.pool = [&](const std::string& name) {
    VirtualCluster::Setup setup;
    setup.name = name;
    setup.policy = [&](const View& view, Plan&) {
      for (const JobId id : view.arrived) expected.push_back(view.job(id).estimate.count());
    };
    return setup;
  };
  there.house.restart();
  there.readers.say = [](const Study&) -> Result<Finding> {
    return CodeFound{.prediction = Prediction{.run_time = FractionalSeconds(77)}};
  };
  there.house.turn();
  there.submit("1");
  there.house.turns(3);
  CHECK(expected.back() == 77);
}

TEST_CASE("few studies are out at a time; one that never answers is given up and made again") {
  ReadingHouse there;
  there.house.options.lives.queue.most_out = 2;
  there.house.options.lives.queue.given_up = Seconds(100);
  there.house.restart();
  there.house.deaf = true;  // no study is answered
  for (int i = 0; i < 10; ++i) there.submit(std::to_string(i));
  there.house.turns(50);
  CHECK(there.house.examined.size() == 2);
  there.house.turns(100);
  CHECK(there.house.examined.size() == 4);
  const std::uint64_t first = there.house.examined.front().number;
  there.house.tell(Studied{first, CodeFound{.source = "late"}});
  for (int i = 0; i < 10; ++i)
    if (const Life* const life = there.house.loop().lives().find(std::to_string(i)))
      CHECK(!life->code);
  CHECK(there.house.loop().lives().counts().late == 1);
}

TEST_CASE("a failure whose reading did not come to its end is read by the next process") {
  ReadingHouse there;
  there.submit("1");
  there.house.turns(2);
  there.house.deaf = true;
  there.house.site.finish("1", EndState::failed);
  there.house.turns(3);
  CHECK(there.readers.count(failure) == 0);
  there.house.restart();
  there.house.deaf = false;
  there.house.turns(3);
  CHECK(there.readers.count(failure) == 1);
  CHECK(there.house.actions() == "start verified, notify verified");
}

TEST_CASE("a study that was given up is made again") {
  ReadingHouse there;
  there.house.options.lives.queue.given_up = Seconds(100);
  there.house.restart();
  there.house.deaf = true;
  there.submit("1").output.clear();
  there.house.turns(105);
  CHECK(there.house.examined.size() == 1);
  there.house.turns(60);
  CHECK(there.house.examined.size() == 2);
  CHECK(there.house.examined.back().job.id == "1");
}

TEST_CASE("what the journal holds of a life is read with care") {
  Lives lives;
  for (const char* const text : {"", "7", "[]", "{", "null"}) CHECK(!lives.restore("1", text));
  for (const char* const text :
       {"{}", R"({"cause":7})", R"({"cause":{"verdict":99,"blamed":[1]}})", R"({"earlier":[7]})",
        R"({"submitted_s":"x","restarts":1e300,"due":1})"})
    CHECK(lives.restore("1", text));
}

}  // namespace
}  // namespace schedmate::live
