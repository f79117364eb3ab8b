// SPDX-License-Identifier: Apache-2.0
/// What has happened to whom since the last reading, and that each life is told once.
#include "live/jobs.hpp"

#include <doctest/doctest.h>

#include "tests/support/made_site.hpp"

namespace schedmate::live {
namespace {

using testing::MadeSite;

const std::vector<NodeGpus> on_a0{{"a-0", {0, 1, 2, 3}}};

/// A site, and who follows its jobs.
struct Watch {
  MadeSite site{4};
  Jobs jobs;

  /// What is new, as "arrived 1, started 1".
  std::string look() {
    const auto listing = site.list(jobs.ended_since(), Connector::Deadline(1));
    changes = jobs.take(*listing);
    return told();
  }
  [[nodiscard]] std::string told() const {
    std::string words;
    for (const Change& each : changes)
      words += (words.empty() ? "" : ", ") + std::string(name_of(each.kind)) + " " +
               each.attempt.seen.id;
    return words;
  }
  /// A new job, which was seen to wait.
  void see_waiting(const std::string& id) {
    site.submit(id);
    REQUIRE(look() == "arrived " + id);
  }
  /// A new job, which was seen to run.
  void see_running(const std::string& id) {
    site.submit(id);
    site.begin(id, on_a0);
    REQUIRE(look() == "arrived " + id + ", started " + id);
  }
  /// Another process, which has what was kept.
  void restart() {
    Jobs fresh;
    for (const auto& [id, attempt] : jobs.all()) REQUIRE(fresh.restore(Jobs::text(attempt)));
    fresh.know_what_was_read(jobs.read_text());
    jobs = std::move(fresh);
  }
  std::vector<Change> changes;
};

TEST_CASE("a job arrives, starts and ends") {
  Watch watch;
  CHECK(watch.look().empty());
  watch.site.submit("1");
  CHECK(watch.look() == "arrived 1");
  CHECK(watch.jobs.waiting() == 1);
  watch.site.pass(Seconds(5));
  watch.site.begin("1", on_a0);
  CHECK(watch.look() == "started 1");
  CHECK(watch.jobs.find("1")->seen.started == at(1005));
  CHECK(watch.jobs.waiting() == 0);
  watch.site.pass(Seconds(5));
  watch.site.finish("1", EndState::failed);
  CHECK(watch.look() == "ended 1");
  CHECK(watch.changes.front().attempt.seen.end_state == EndState::failed);
  CHECK(watch.changes.front().before.phase == JobPhase::running);
  CHECK(watch.look().empty());
}

TEST_CASE("several things at once are told in their order") {
  Watch watch;
  watch.site.submit("1");
  watch.site.begin("1", on_a0);
  CHECK(watch.look() == "arrived 1, started 1");
  watch.site.submit("2");
  watch.site.begin("2", {{"a-1", {0, 1, 2, 3}}});
  watch.site.finish("2");
  CHECK(watch.look() == "arrived 2, started 2, ended 2");
  CHECK(watch.changes.at(0).attempt.seen.phase == JobPhase::queued);
  CHECK(watch.changes.at(1).attempt.seen.phase == JobPhase::running);
}

TEST_CASE("a job that never ran ends without a start") {
  Watch watch;
  watch.see_waiting("1");
  watch.site.finish("1", EndState::cancelled);
  CHECK(watch.look() == "ended 1");
  watch.site.submit("2");
  watch.site.finish("2", EndState::cancelled);
  CHECK(watch.look() == "arrived 2, ended 2");
}

TEST_CASE("a requeue ends one attempt, and another arrives") {
  Watch watch;
  watch.see_running("1");
  const auto first = watch.jobs.find("1")->number;
  watch.site.pass(Seconds(7));
  watch.site.requeue("1");
  CHECK(watch.look() == "ended 1, arrived 1");
  CHECK(watch.changes.front().attempt.number == first);
  CHECK(watch.changes.front().attempt.seen.end_state == EndState::requeued);
  CHECK(watch.changes.front().attempt.seen.ended == at(1007));
  CHECK(watch.jobs.find("1")->number > first);
}

TEST_CASE("requeued and started again between two readings") {
  Watch watch;
  watch.see_running("1");
  watch.site.requeue("1");
  watch.site.begin("1", on_a0);
  CHECK(watch.look() == "ended 1, arrived 1, started 1");
  CHECK(watch.jobs.find("1")->seen.restarts == 1);
}

TEST_CASE("a job that had ended comes back to the queue: its end is not told again") {
  Watch watch;
  watch.site.submit("1");
  watch.site.begin("1", on_a0);
  watch.site.finish("1", EndState::failed);
  CHECK(watch.look() == "arrived 1, started 1, ended 1");
  watch.site.requeue("1");
  CHECK(watch.look() == "arrived 1");
}

TEST_CASE("a job that goes back to the queue without a count of restarts is another attempt, too") {
  Watch watch;
  watch.see_running("1");
  SeenJob& job = watch.site.change("1");
  job.phase = JobPhase::queued;
  job.started.reset();
  CHECK(watch.look() == "ended 1, arrived 1");
}

TEST_CASE("a job that is shown no more has vanished, unless its end was told") {
  Watch watch;
  watch.site.submit("1");
  watch.site.submit("2");
  watch.site.finish("2");
  watch.look();
  watch.site.forget("1");
  watch.site.forget("2");
  CHECK(watch.look() == "vanished 1");
  CHECK(watch.jobs.all().empty());
  CHECK(watch.jobs.forgotten() == std::vector<std::string>{"1", "2"});
  CHECK(watch.look().empty());
  CHECK(watch.jobs.forgotten().empty());
}

TEST_CASE("an id that comes again is another job") {
  Watch watch;
  watch.see_running("1");
  watch.site.forget("1");
  watch.site.pass(Seconds(60));
  watch.site.submit("1");
  CHECK(watch.look() == "vanished 1, arrived 1");
  CHECK(watch.changes.front().attempt.seen.submitted == at(1000));
  CHECK(watch.jobs.find("1")->seen.submitted == at(1060));
}

TEST_CASE("an id that comes again beside the job that ended is told after it") {
  Watch watch;
  watch.see_running("1");
  watch.site.finish("1");
  watch.site.pass(Seconds(60));
  watch.site.submit("1");
  CHECK(watch.look() == "ended 1, arrived 1");
  watch.site.begin("1", on_a0);  // both are still shown
  CHECK(watch.look() == "started 1");
}

TEST_CASE("held, released, ordered, noted: altered") {
  Watch watch;
  watch.see_waiting("1");
  watch.site.change("1").held = true;
  CHECK(watch.look() == "altered 1");
  CHECK(!watch.changes.front().before.held);
  watch.site.change("1").held = false;
  watch.site.change("1").order = 3;
  CHECK(watch.look() == "altered 1");
  CHECK(watch.changes.front().before.held);
  watch.site.change("1").note = "x";
  CHECK(watch.look() == "altered 1");
  watch.site.begin("1", on_a0);
  watch.look();
  watch.site.change("1").nodes = {{"a-1", {0, 1, 2, 3}}};
  CHECK(watch.look() == "altered 1");
}

TEST_CASE("a reading of a version that was taken, or of an older one, tells nothing") {
  Watch watch;
  watch.site.submit("1");
  const Listing old = watch.site.listing();
  watch.site.begin("1", on_a0);
  watch.look();
  CHECK(watch.jobs.take(old).empty());
  CHECK(watch.jobs.find("1")->seen.phase == JobPhase::running);
  CHECK(watch.look().empty());
}

TEST_CASE("ends are asked for from five minutes before the last reading, never from earlier") {
  Watch watch;
  CHECK(watch.jobs.ended_since() == SimTime::min());
  watch.see_waiting("1");
  CHECK(watch.jobs.ended_since() == at(700));
  watch.site.listing().now = at(900);  // a clock that was set back
  watch.site.submit("2");
  watch.look();
  CHECK(watch.jobs.ended_since() == at(700));
}

TEST_CASE("a job that ended is followed until the cluster need not show it any more") {
  Watch watch;
  watch.site.submit("1");
  watch.site.finish("1");
  watch.look();
  watch.site.pass(Seconds(301));
  watch.site.submit("2");
  watch.look();
  CHECK(watch.jobs.find("1") != nullptr);
  watch.site.pass(Seconds(301));
  watch.site.submit("3");
  CHECK(watch.look() == "arrived 3");
  CHECK(watch.jobs.find("1") == nullptr);
  CHECK(watch.jobs.forgotten() == std::vector<std::string>{"1"});
}

TEST_CASE("after a restart nothing is told twice, and nothing is missed") {
  Watch watch;
  for (const char* id : {"waits", "runs", "ended", "goes on", "leaves", "again"})
    watch.site.submit(id);
  for (const char* id : {"runs", "ended", "leaves", "again"}) watch.site.begin(id, on_a0);
  watch.site.finish("ended");
  watch.look();
  watch.restart();
  CHECK(watch.jobs.waiting() == 2);
  watch.site.pass(Seconds(5));
  watch.site.begin("goes on", on_a0);
  watch.site.finish("leaves");
  watch.site.requeue("again");
  watch.site.submit("new");
  watch.look();
  std::erase_if(watch.changes,
                [](const Change& each) { return each.kind == Change::Kind::altered; });
  CHECK(watch.told() == "started goes on, ended leaves, ended again, arrived again, arrived new");
  CHECK(watch.jobs.find("runs")->seen.nodes == on_a0);
  CHECK(watch.look().empty());
}

TEST_CASE("after a restart an id that came again meanwhile is another job") {
  Watch watch;
  watch.see_waiting("1");
  watch.restart();
  watch.site.forget("1");
  watch.site.pass(Seconds(5));
  watch.site.submit("1");
  CHECK(watch.look() == "vanished 1, arrived 1");
}

TEST_CASE("a job that was lost while nobody looked has vanished") {
  Watch watch;
  watch.see_waiting("1");
  watch.restart();
  watch.site.forget("1");
  CHECK(watch.look() == "vanished 1");
}

TEST_CASE("plant: without what was kept, lives are told again") {
  Watch watch;
  watch.see_running("1");
  watch.jobs = Jobs();
  CHECK(watch.look() == "arrived 1, started 1");
}

TEST_CASE("what is kept of a job may be damaged: it is refused") {
  Watch watch;
  watch.see_waiting("1");
  const std::string text = Jobs::text(*watch.jobs.find("1"));
  Jobs jobs;
  CHECK(jobs.restore(text));
  CHECK(jobs.find("1")->seen.phase == JobPhase::queued);
  for (std::size_t end = 0; end < text.size(); ++end) CHECK(!Jobs().restore(text.substr(0, end)));
  for (const char* bad : {"5", "[]", "null", R"({"id": "1"})",
                          R"({"id":"1","submitted_s":1,"restarts":0,"phase":"x","started_s":1})",
                          R"({"id":"1","submitted_s":"1","restarts":0,"phase":"queued",
                              "started_s":1})"})
    CHECK(Jobs().restore(bad).error().code == ErrorCode::invalid);
}

TEST_CASE("policies hear of ends first, then of starts and arrivals") {
  Watch watch;
  for (const char* id : {"a", "b", "c", "d"}) watch.site.submit(id);
  watch.site.begin("b", on_a0);
  watch.site.begin("a", {{"a-1", {0, 1, 2, 3}}});
  watch.look();
  watch.site.submit("e");
  watch.site.change("d").held = true;
  watch.site.begin("c", {{"a-2", {0, 1, 2, 3}}});
  watch.site.pass(Seconds(5));
  watch.site.finish("a");
  watch.site.listing().now = at(1003);
  watch.site.finish("b");
  watch.look();
  sort_for_policies(watch.changes);
  CHECK(watch.told() == "ended b, ended a, started c, arrived e, altered d");
}

}  // namespace
}  // namespace schedmate::live
