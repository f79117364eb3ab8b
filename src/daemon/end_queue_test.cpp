// SPDX-License-Identifier: Apache-2.0
#include "daemon/end_queue.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "tests/support/ended_jobs.hpp"
#include "tests/support/faulty_disk.hpp"

namespace schedmate::daemon {
namespace {

/// A queue as a daemon has one, for a history that is away at first.
struct QueueProcess {
  explicit QueueProcess(const testing::AwayHistory& history)
      : QueueProcess(history, {.disk = {.path = history.ends_file()}}) {}
  QueueProcess(const testing::AwayHistory& history, const EndQueue::Options& options)
      : historian(history.session()),
        queue(historian, options, [this](const std::string& line) { lines.push_back(line); }) {}

  /// Until there is nothing more to do.
  void work() {
    int parts = 0;
    while (queue.work()) REQUIRE(++parts < 1000);
  }
  void put(const Ended& end) { (void)queue.put(end); }
  void try_again() {
    if (queue.try_again()) work();
  }

  Historian historian;
  std::vector<std::string> lines;  // for the log
  EndQueue queue;
};

TEST_CASE("ends that the history does not take wait on the disk, also for another process") {
  const testing::AwayHistory history;
  {
    QueueProcess first(history);
    for (int i = 1; i <= 1200; ++i) first.put(testing::ended_job(std::to_string(i)));
    CHECK(first.queue.counts().waiting == 1200);
    first.work();
    CHECK(first.queue.counts().waiting == 1200);
    CHECK(first.queue.counts().kept == 0);
  }
  QueueProcess next(history);
  next.try_again();
  CHECK(next.queue.counts().waiting == 1200);
  history.come_back();
  next.try_again();
  CHECK(next.queue.counts().waiting == 0);
  CHECK(next.queue.counts().kept == 1200);
  for (const char* const id : {"1", "700", "1200"})
    CHECK(history.kept(id)->outcome->duration == Seconds(60));
  CHECK_FALSE(std::filesystem::exists(history.ends_file()));
  CHECK_FALSE(next.queue.try_again());
  CHECK(next.lines.empty());
}

TEST_CASE("where the history takes ends at once nothing is written elsewhere") {
  const testing::AwayHistory history;
  history.come_back();
  QueueProcess process(history);
  CHECK(process.queue.put(testing::ended_job("1")));
  CHECK_FALSE(process.queue.put(testing::ended_job("2")));  // it is to be called once
  process.work();
  CHECK(process.queue.counts().kept == 2);
  CHECK(history.kept("2"));
  CHECK_FALSE(std::filesystem::exists(history.ends_file()));
}

TEST_CASE("ends keep their order: while some wait others go behind them") {
  const testing::AwayHistory history;
  QueueProcess process(history);
  process.put(testing::ended_job("1", Seconds(10)));
  process.work();
  history.come_back();
  process.put(testing::ended_job("2"));
  process.put(testing::ended_job("1", Seconds(20)));
  process.work();
  CHECK(process.queue.counts().waiting == 2);  // it is asked again only when it is time
  process.try_again();
  CHECK(history.kept("1")->outcome->duration == Seconds(20));
  CHECK(process.queue.counts().waiting == 0);
  process.put(testing::ended_job("1", Seconds(30)));
  process.work();
  CHECK(history.kept("1")->outcome->duration == Seconds(30));
}

TEST_CASE("what a daemon saw of an end is kept, whatever the next ones know less of it") {
  const testing::AwayHistory history;
  Ended seen = testing::ended_job("1");
  seen.life = live::Life{};
  seen.life->cause = live::CauseFound{.fingerprint = "f1"};
  {
    QueueProcess first(history);
    first.put(seen);
    first.work();
  }
  seen.life.reset();
  seen.is_old = true;
  for (int restarts = 0; restarts < 3; ++restarts) {
    QueueProcess next(history);
    next.put(seen);
    next.try_again();
    next.work();
    CHECK(next.queue.counts().waiting == 1);
  }
  history.come_back();
  QueueProcess last(history);
  last.put(seen);
  last.try_again();
  last.work();
  CHECK(history.kept("1")->outcome->fingerprint == "f1");
}

TEST_CASE("one that the history refuses is counted, and keeps back no other") {
  const testing::AwayHistory history;
  bool waits = false;
  SUBCASE("at once") {}
  SUBCASE("after it has waited") { waits = true; }
  QueueProcess process(history);
  process.put(testing::ended_job("1"));
  process.put(testing::ended_job("2"));
  process.put(testing::ended_job(""));
  if (waits) process.work();
  history.come_back();
  JobRecord other;  // of another user, and of another time
  other.id = "1";
  other.user = "bob";
  testing::need(history.store()->put(other));
  process.try_again();
  process.work();
  CHECK(process.queue.counts().waiting == 0);
  CHECK(process.queue.counts().refused == 2);
  CHECK(process.queue.counts().kept == 1);
  CHECK(history.kept("1")->user == "bob");
  CHECK(history.kept("2")->outcome);
}

TEST_CASE("a history that is damaged while it is in use loses no end") {
  const testing::AwayHistory history;
  history.come_back();
  QueueProcess process(history);
  process.put(testing::ended_job("1"));
  process.work();
  CHECK(process.queue.counts().kept == 1);
  history.damage();
  for (int i = 2; i <= 30; ++i) process.put(testing::ended_job(std::to_string(i)));
  process.work();
  process.try_again();
  CHECK(process.queue.counts().refused == 0);
  CHECK(process.queue.counts().waiting == 29);
}

TEST_CASE("of too many the oldest go, and are counted, in memory and on the disk") {
  const testing::AwayHistory history;
  QueueProcess process(
      history, {.disk = {.path = history.ends_file(), .most_ends = 10}, .most_in_memory = 20});
  for (int i = 1; i <= 25; ++i) process.put(testing::ended_job(std::to_string(i)));
  CHECK(process.queue.counts().waiting == 20);
  CHECK(process.queue.counts().dropped == 5);
  process.work();
  CHECK(process.queue.counts().waiting == 10);
  CHECK(process.queue.counts().dropped == 15);
  history.come_back();
  process.try_again();
  CHECK(process.queue.counts().kept == 10);
  CHECK_FALSE(history.kept("15"));
  CHECK(history.kept("16"));
}

TEST_CASE("while neither history nor disk takes ends they wait in memory, and it is said once") {
  const testing::AwayHistory history;
  testing::FaultyDisk disk(1);
  const WaitingEnds::Options on_disk{.path = "/ends.sqlite", .vfs = disk.vfs()};
  testing::need(WaitingEnds(on_disk, {}).look());  // the file is made
  disk.faults.capacity = 0;
  QueueProcess process(history, {.disk = on_disk, .most_in_memory = 10});
  for (int i = 1; i <= 8; ++i) process.put(testing::ended_job(std::to_string(i)));
  process.work();
  CHECK_FALSE(process.queue.put(testing::ended_job("9")));  // nothing is tried for each
  process.try_again();
  CHECK(process.queue.counts().waiting == 9);
  CHECK(process.lines.size() == 1);
  for (int i = 10; i <= 30; ++i) process.put(testing::ended_job(std::to_string(i)));
  CHECK(process.queue.counts().waiting == 18);
  CHECK(process.queue.counts().dropped == 12);
  SUBCASE("the disk has room again") {
    disk.faults.capacity = std::numeric_limits<std::size_t>::max();
    process.try_again();
    CHECK(process.queue.counts().waiting == 18);
    CHECK(process.queue.put(testing::ended_job("31")));
    process.work();
  }
  SUBCASE("the history is back") {}
  history.come_back();
  process.try_again();
  CHECK(process.queue.counts().waiting == 0);
  CHECK(history.kept("1"));
  CHECK(history.kept("8"));
  CHECK_FALSE(history.kept("9"));
  CHECK(history.kept("30"));
}

TEST_CASE("what was asked to be done and has not been by the next time is late") {
  const testing::AwayHistory history;
  QueueProcess process(history);
  process.try_again();
  process.put(testing::ended_job("1"));
  CHECK_FALSE(process.queue.is_late());
  CHECK_FALSE(process.queue.try_again());
  CHECK(process.queue.is_late());
  process.work();
  CHECK_FALSE(process.queue.is_late());
}

}  // namespace
}  // namespace schedmate::daemon
