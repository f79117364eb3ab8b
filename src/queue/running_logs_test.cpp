// SPDX-License-Identifier: Apache-2.0
#include "queue/running_logs.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utime.h>

#include <chrono>

#include "tests/support/cluster_site.hpp"
#include "tests/support/hanging_mount.hpp"
#include "tests/support/near.hpp"
#include "tests/support/needs.hpp"

namespace schedmate::queue {
namespace {

using testing::ClusterSite;

constexpr std::int64_t read_at_s = 1'800'000'000;
constexpr std::int64_t started_s = read_at_s - 1000;

/// A step a second, 900 of 1000 of them.
std::string steps_by_second() {
  std::string text;
  for (int step = 1; step <= 900; ++step)
    text += fmt::format("step {}/1000 loss: {:.3f} time: 1.00 s\n", step, 3.0 - 0.001 * step);
  return text;
}

struct LogSite : ClusterSite {
  slurm::ClusterQueue queue;

  LogSite() { queue.now = at(read_at_s); }
  std::string log(const std::string& name, const std::string& text, std::int64_t written_s) {
    std::string path = write("work/" + name, text);
    const utimbuf times{written_s, written_s};
    REQUIRE(::utime(path.c_str(), &times) == 0);
    return path;
  }
  slurm::QueuedJob& runs(const std::string& id, const std::string& log) {
    slurm::QueuedJob& job = queue.jobs.emplace_back();
    job.id = id;
    job.state = "RUNNING";
    job.gpus = 1;
    job.start = at(started_s);
    job.workdir = here.path("work");
    job.log = log;
    return job;
  }
  [[nodiscard]] RunningLogs read(const LogsBudget& budget = {}) const {
    auto made = read_running_logs(session(), queue, budget);
    REQUIRE(made);
    return *std::move(made);
  }
};

}  // namespace

TEST_CASE("the log of a running job tells what is left from its last line on") {
  LogSite site;
  (void)site.log("net-17.out", steps_by_second(), read_at_s - 100);
  site.runs("17", "%x-%j.out").name = "net";  // as older versions show it
  site.runs("18", site.log("18.out", "no progress here\n", read_at_s - 100));
  site.runs("19", site.here.path("work/absent.out"));
  site.runs("20", "/dev/null");
  site.runs("21", "/dev/fd/0");
  site.runs("22", "");
  site.runs("23", site.log("23.out", steps_by_second(), read_at_s)).state = "PENDING";
  const RunningLogs made = site.read();
  CHECK(made.notes.empty());
  REQUIRE(made.told.size() == 1);
  CHECK(made.told.at(0).ran_s == 900);
  CHECK(testing::near(made.told.at(0).left_s, 100, 1e-6, 0));
}

TEST_CASE("a log of another time is another job's, or tells what came later") {
  LogSite site;
  site.runs("1", site.log("1.out", steps_by_second(), started_s - 1));
  site.runs("2", site.log("2.out", steps_by_second(), read_at_s + 61));
  site.runs("3", site.log("3.out", steps_by_second(), read_at_s - 3601)).start =
      at(read_at_s - 5000);
  const RunningLogs none = site.read();
  CHECK(none.told.empty());
  REQUIRE(none.notes.size() == 1);
  CHECK(none.notes[0].starts_with("3 logs of running jobs were written before"));
  site.runs("4", site.log("4.out", steps_by_second(), read_at_s + 60));  // clocks differ
  const RunningLogs near = site.read();
  REQUIRE(near.told.size() == 1);
  CHECK(near.told.at(3).ran_s == 1000);
}

TEST_CASE("only counters that account for the run so far are believed") {
  Progress progress;
  progress.step = 900;
  progress.total_steps = 1000;
  progress.step_time_s = 1;
  progress.remaining_s = 100;
  progress.remaining_by = "by steps";
  CHECK(accounts_for(accounted_s(progress), 1000));
  CHECK(accounts_for(accounted_s(progress), 1700));
  CHECK_FALSE(
      accounts_for(accounted_s(progress), 2000));  // of an evaluation, or there was more before
  CHECK_FALSE(accounts_for(accounted_s(progress), 600));  // it went on from a checkpoint
  // Steps of an epoch: the third of ten.
  progress.epoch = 3;
  progress.total_epochs = 10;
  progress.remaining_s = 7100;
  CHECK(accounts_for(accounted_s(progress), 3000));
  CHECK_FALSE(accounts_for(accounted_s(progress), 20'000));
  // An ETA as printed, beside a share and beside nothing.
  progress = {};
  progress.remaining_s = 500;
  progress.remaining_by = "as printed";
  CHECK_FALSE(accounts_for(accounted_s(progress), 500));
  progress.step = 50;
  progress.total_steps = 100;
  CHECK(accounts_for(accounted_s(progress), 500));
  CHECK_FALSE(accounts_for(accounted_s(progress), 5000));
  CHECK_FALSE(accounts_for(accounted_s({}), 500));
}

TEST_CASE("more logs than the budget has are not read, those of small jobs first") {
  LogSite site;
  for (int i = 0; i < 5; ++i)
    site.runs(fmt::format("{}", i),
              site.log(fmt::format("{}.out", i), steps_by_second(), read_at_s - 100))
        .gpus = i + 1;
  const RunningLogs made = site.read({.logs = 2});
  CHECK(made.told.size() == 2);
  CHECK(made.told.contains(3));
  CHECK(made.told.contains(4));
  REQUIRE(made.notes.size() == 1);
  CHECK(made.notes[0] ==
        "3 of 5 logs of running jobs were not read: the budget is 2 logs and 2 s, and 500 ms for "
        "an answer of a file system");
  CHECK(site.read({.time = std::chrono::milliseconds(0)}).told.empty());
}

TEST_CASE("a log on a dead share costs an answer's time and is said" * testing::needs_fuse()) {
  const testing::HangingMount share(FUSE_OPEN);
  REQUIRE(share.mounted());
  LogSite site;
  site.runs("1", share.file()).gpus = 8;
  site.runs("2", site.log("2.out", steps_by_second(), read_at_s - 100));
  const RunningLogs made = site.read({.answer = std::chrono::milliseconds(200)});
  CHECK(made.told.contains(1));
  REQUIRE(made.notes.size() == 1);
  CHECK(made.notes[0].starts_with("1 of 2 logs"));
}

TEST_CASE("a log is read as the job's user where root asks" * testing::needs_root()) {
  LogSite site;
  const std::string path = site.log("secret.out", steps_by_second(), read_at_s - 100);
  REQUIRE(::chmod(site.here.path().c_str(), 0755) == 0);
  REQUIRE(::chmod(path.c_str(), 0600) == 0);  // root's own
  site.runs("1", path).user = "nobody";
  CHECK(site.read().told.empty());
  site.queue.jobs[0].user = "root";
  CHECK(site.read().told.size() == 1);
}

}  // namespace schedmate::queue
