// SPDX-License-Identifier: Apache-2.0
#include "queue/known_submissions.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <schedmate/scheduler.hpp>
#include <schedmate/store.hpp>

#include "service/advisor_state.hpp"
#include "service/history.hpp"
#include "tests/support/cluster_site.hpp"
#include "tests/support/near.hpp"

namespace schedmate::queue {
namespace {

using testing::ClusterSite;

constexpr std::int64_t queue_at_s = 1'800'000'000;
constexpr std::int64_t day_s = 86'400;

constexpr const char* dump_columns =
    "JobID|User|Partition|State|Submit|Start|End|ElapsedRaw|TimelimitRaw|AllocTRES\n";

struct EndedJob {
  std::string id, user;
  std::int64_t submit_s = 0, start_s = 0, ran_s = 0;
  std::string partition = "gpu";
  int gpus = 1;
};

std::string ended_job(const EndedJob& job) {
  const std::string gpus = job.gpus == 0 ? "" : fmt::format(",gres/gpu={}", job.gpus);
  return fmt::format("{}|{}|{}|COMPLETED|{}|{}|{}|{}|90|cpu=4,node=1{}\n", job.id, job.user,
                     job.partition, job.submit_s, job.start_s, job.start_s + job.ran_s, job.ran_s,
                     gpus);
}

slurm::QueuedJob queue_job(const std::string& id, const std::string& user, bool runs) {
  slurm::QueuedJob made;
  made.id = id;
  made.user = user;
  made.partitions = {"gpu"};
  made.state = runs ? "RUNNING" : "PENDING";
  made.reason = runs ? "None" : "Resources";
  made.gpus = 8;
  made.submit = at(queue_at_s - 7200);
  made.limit = Seconds(10 * 3600);
  if (runs) {
    made.start = at(queue_at_s - 3600);
    made.held = {{"n0", 8, 0xff}};
  }
  return made;
}

/// One node with eight GPUs, a job that has them, and one that waits for them.
slurm::ClusterQueue busy_queue() {
  slurm::ClusterQueue queue;
  queue.now = at(queue_at_s);
  slurm::ClusterNode& node = queue.nodes.emplace_back();
  node.name = "n0";
  node.gpus = 8;
  node.partitions = {"gpu"};
  slurm::Partition& partition = queue.partitions.emplace_back();
  partition.name = "gpu";
  partition.nodes = {"n0"};
  queue.jobs = {queue_job("901", "ann", true), queue_job("902", "bob", false)};
  return queue;
}

KnownSubmissions known_of(const ClusterSite& site, const slurm::ClusterQueue& queue) {
  auto known = KnownSubmissions::read(site.session(), queue, "");
  REQUIRE(known);
  return *std::move(known);
}

slurm::SnapshotOfQueue snapshot_by(const KnownSubmissions& known,
                                   const slurm::ClusterQueue& queue) {
  auto made = slurm::snapshot_of(queue, [&](const slurm::QueuedJob& each) {
    return known.belief(static_cast<std::size_t>(&each - queue.jobs.data()));
  });
  REQUIRE(made);
  known.complete(*made);
  return *std::move(made);
}

/// Six jobs an hour for four weeks, by a user of the queue and one who is not in it.
std::string busy_weeks() {
  std::string dump = dump_columns;
  int id = 10'000;
  for (std::int64_t at_s = queue_at_s - 28 * day_s + 60; at_s < queue_at_s - 3600;
       at_s += 600, ++id)
    dump += ended_job({fmt::format("{}", id), id % 2 == 0 ? "bob" : "eve", at_s, at_s + 10, 1200});
  return dump;
}

void import_dump(const ClusterSite& site, const std::string& dump) {
  REQUIRE(service::import_jobs(site.session(), "sacct:" + site.write("dump.txt", dump)));
}

SimTime median_start(const QueueSnapshot& snapshot) {
  auto scheduler = make_scheduler("sjf", {ClusterSpec{snapshot.pools}, {}, 1}, {});
  REQUIRE(scheduler);
  const auto forecast = forecast_queue(snapshot, *scheduler, {.samples = 60});
  REQUIRE(forecast);
  for (std::size_t i = 0; i < snapshot.jobs.size(); ++i)
    if (!snapshot.jobs[i].started) return forecast->jobs[i].start->p50;
  FAIL("nothing waits");
  return never;
}

bool noted(const slurm::SnapshotOfQueue& made, std::string_view words) {
  return std::ranges::any_of(made.notes,
                             [&](const std::string& note) { return note.contains(words); });
}

}  // namespace

TEST_CASE("what was submitted may be submitted again, and waiting jobs start later for it") {
  const ClusterSite site;
  import_dump(site, busy_weeks());
  const slurm::ClusterQueue queue = busy_queue();
  const KnownSubmissions known = known_of(site, queue);
  auto made = snapshot_by(known, queue);
  CHECK(known.runs() > 4000);
  CHECK(std::ssize(made.snapshot.past) == known.runs() + 2);  // the queue's own are of the past
  CHECK(made.snapshot.site != nullptr);
  CHECK_FALSE(noted(made, "history"));
  const SimTime busy = median_start(made.snapshot);
  made.snapshot.past.clear();
  const SimTime quiet = median_start(made.snapshot);
  CHECK(busy - quiet > Seconds(1800));  // short jobs go first, and they keep coming
}

TEST_CASE("the past has the users of the snapshot, its pools, and no job without GPUs") {
  const ClusterSite site;
  import_dump(
      site,
      std::string(dump_columns) +
          ended_job({"1", "bob", queue_at_s - 5 * day_s, queue_at_s - 4 * day_s, 9}) +
          ended_job({"2", "eve", queue_at_s - 4 * day_s, queue_at_s - 4 * day_s, 60, "gpu", 4}) +
          ended_job({"3", "eve", queue_at_s - 4 * day_s, queue_at_s - 4 * day_s, 60, "cpu", 4}) +
          ended_job({"4", "ann", queue_at_s - 4 * day_s, queue_at_s - 4 * day_s, 60, "gpu", 0}) +
          ended_job({"5", "ann", queue_at_s - 29 * day_s, queue_at_s - 29 * day_s, 60}));
  const slurm::ClusterQueue queue = busy_queue();
  const auto made = snapshot_by(known_of(site, queue), queue);
  const auto& past = made.snapshot.past;
  REQUIRE(past.size() == 4);  // 1, 2 and the two of the queue
  const auto user_of = [&](std::string_view id) {
    return std::ranges::find(made.snapshot.jobs, id, &SnapshotJob::id)->user;
  };
  CHECK(past[0].user == user_of("902"));
  CHECK(past[0].ended);
  CHECK(past[0].ran_s == 9);
  CHECK(past[0].planned == Seconds(90 * 60));
  CHECK(past[1].user != user_of("901"));
  CHECK(past[1].user != user_of("902"));
  CHECK(past[1].gpus == 4);
  const auto open = std::ranges::find(past, user_of("901"), &PastSubmission::user);
  REQUIRE(open != past.end());
  CHECK_FALSE(open->ended);
  CHECK(open->ran_s == 3600);
  CHECK(noted(made, "older than this queue"));
}

TEST_CASE("nothing is used that is later than the queue") {
  const std::string before =
      ended_job({"1", "bob", queue_at_s - 3 * day_s, queue_at_s - 3 * day_s, 600}) +
      ended_job({"2", "ann", queue_at_s - day_s, queue_at_s - day_s, 1800});
  const ClusterSite then, later;
  import_dump(then, dump_columns + before);
  // How the queue's own jobs ended, jobs that came after it, and one that it had in an array.
  import_dump(later, dump_columns + before +
                         ended_job({"901", "ann", queue_at_s - 7200, queue_at_s - 3600, 4000}) +
                         ended_job({"902", "bob", queue_at_s - 7200, queue_at_s + 500, 70'000}) +
                         ended_job({"903", "bob", queue_at_s + 10, queue_at_s + 20, 5}) +
                         ended_job({"904_7", "bob", queue_at_s - 100, queue_at_s + 20, 5}));
  slurm::ClusterQueue queue = busy_queue();
  queue.jobs.push_back(queue_job("904_[0-9]", "bob", false));
  const KnownSubmissions knew = known_of(then, queue);
  const KnownSubmissions knows = known_of(later, queue);
  CHECK(knows.runs() == knew.runs());
  for (std::size_t i = 0; i < queue.jobs.size(); ++i)
    for (const double share : {0.1, 0.5, 0.9})
      CHECK(knows.belief(i).run_time.draw(share, 0) == knew.belief(i).run_time.draw(share, 0));
  const auto ours = snapshot_by(knew, queue), theirs = snapshot_by(knows, queue);
  REQUIRE(theirs.snapshot.past.size() == ours.snapshot.past.size());
  for (std::size_t i = 0; i < ours.snapshot.past.size(); ++i) {
    CHECK(theirs.snapshot.past[i].submit == ours.snapshot.past[i].submit);
    CHECK(theirs.snapshot.past[i].ran_s == ours.snapshot.past[i].ran_s);
    CHECK(theirs.snapshot.past[i].ended == ours.snapshot.past[i].ended);
  }
  CHECK(KnownSubmissions::read(later.session(), queue, "1")->end_of_wanted() == "completed");
  CHECK(KnownSubmissions::read(later.session(), queue, "903")->end_of_wanted().empty());
}

TEST_CASE("without a history, or without a recent one, nothing is taken to come") {
  const slurm::ClusterQueue queue = busy_queue();
  const ClusterSite none;
  const auto alone = snapshot_by(known_of(none, queue), queue);
  CHECK(alone.snapshot.past.empty());
  CHECK(noted(alone, "no past run times"));
  const ClusterSite old;
  import_dump(old, std::string(dump_columns) + ended_job({"1", "bob", queue_at_s - 40 * day_s,
                                                          queue_at_s - 40 * day_s, 9}));
  const auto stale = snapshot_by(known_of(old, queue), queue);
  CHECK(stale.snapshot.past.empty());
  CHECK(noted(stale, "no submissions of the last 28 days"));
}

TEST_CASE("a job's run time is what its advice said, unless that was not known") {
  const ClusterSite site;
  import_dump(site, busy_weeks());
  const auto record = [&](const std::string& id, const std::string& user, bool told) {
    JobRecord made;
    made.id = id;
    made.user = user;
    made.submit = at(queue_at_s - 7200);
    GivenAdvice advice;
    advice.source = "resubmission";
    advice.mean = advice.p50 = FractionalSeconds(5 * 3600);
    advice.p10 = FractionalSeconds(4 * 3600);
    advice.p90 = FractionalSeconds(8 * 3600);
    advice.length = GivenLength{.source = "resubmission", .told = told};
    made.advice = advice;
    auto history = service::open_history(site.session());
    REQUIRE(history);
    REQUIRE(history->store->put(made));
  };
  record("901", "ann", true);
  record("902", "bob", false);
  record("905", "bob", true);
  record("906", "eve", true);
  slurm::ClusterQueue queue = busy_queue();
  queue.jobs.push_back(queue_job("905_[1-4]", "bob", false));
  queue.jobs.push_back(queue_job("906", "bob", false));  // of another user: not this one
  const KnownSubmissions known = known_of(site, queue);
  CHECK(known.belief(0).source == RunTimeSource::advisor);
  const double median = known.belief(0).run_time.draw(0.5, 0);
  CHECK(testing::near(median, 5 * 3600, 0.05, 0));
  CHECK(known.belief(0).run_time.draw(0.5, 6 * 3600) > 6 * 3600);
  CHECK(known.belief(1).source == RunTimeSource::user);
  CHECK(known.belief(1).run_time.draw(0.5, 0) < 3600);  // as his own runs
  CHECK(known.belief(2).source == RunTimeSource::advisor);
  CHECK(known.belief(3).source == RunTimeSource::user);
}

}  // namespace schedmate::queue
