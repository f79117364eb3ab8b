// SPDX-License-Identifier: Apache-2.0

/// Queues whose run times are known, so that the answer is known to the second.

#include <doctest/doctest.h>

#include <array>
#include <schedmate/earlier.hpp>

#include "base/random.hpp"
#include "tests/support/need.hpp"
#include "tests/support/small.hpp"

namespace schedmate::eta {
namespace {

using testing::need;
using testing::small_cluster;

constexpr SimTime now = at(1000);

/// Waits; its number is its turn.
SnapshotJob job_of(int number, int gpus, std::int64_t ran_s, std::int64_t limit_s) {
  SnapshotJob made;
  made.id = std::to_string(number);
  made.user = static_cast<std::uint32_t>(number);
  made.gpus = gpus;
  made.submit = at(number);
  made.limit = Seconds(limit_s);
  made.planned = Seconds(limit_s);
  made.belief = {.curve = nullptr, .known_s = static_cast<double>(ran_s)};
  return made;
}

SnapshotJob running(SnapshotJob job, Placement where) {
  job.started = now - Seconds(10);
  job.where = std::move(where);
  return job;
}

struct Site {
  QueueSnapshot snapshot;
  Scheduler scheduler;

  Site(std::string_view policy, const std::vector<int>& nodes, std::vector<SnapshotJob> jobs) {
    snapshot.now = now;
    snapshot.pools = small_cluster(nodes).partitions;
    snapshot.jobs = std::move(jobs);
    scheduler = need(make_scheduler(policy, {ClusterSpec{snapshot.pools}}, {}));
  }
  [[nodiscard]] std::vector<Earlier> earlier(std::size_t job, const MayChange& may = {}) const {
    return need(what_starts_earlier(snapshot, scheduler, {.samples = 3}, {job, may}));
  }
  [[nodiscard]] SimTime start(std::size_t job) const {
    return need(forecast_queue(snapshot, scheduler, {.samples = 3})).jobs[job].start->p50;
  }
};

TEST_CASE("eight GPUs wait for a job to end, four are free") {
  const Site site("fifo", {1},
                  {running(job_of(1, 4, 910, 7200), {{0, 0xf}}), job_of(2, 8, 60, 60)});
  const auto found = site.earlier(1);
  REQUIRE(found.size() == 1);  // two GPUs would start no earlier than four
  CHECK(found[0].change == JobChange::gpus);
  CHECK(found[0].job.gpus == 4);
  CHECK(found[0].before == now + Seconds(900));
  CHECK(found[0].after == now);
  CHECK(found[0].share == 1);
}

TEST_CASE("as many GPUs as are free") {
  const Site site("fifo", {3},
                  {running(job_of(1, 3, 910, 7200), {{0, 0x7}}),
                   running(job_of(2, 8, 910, 7200), {{1, 0xff}}), job_of(3, 24, 60, 60)});
  const auto found = site.earlier(2);
  REQUIRE(found.size() == 1);
  CHECK(found[0].job.gpus == 13);  // 16 have no room, and 12 would start no earlier
  // Node 0 stays taken longer than node 1.
  const Site two("fifo", {2},
                 {running(job_of(1, 8, 1810, 7200), {{0, 0xff}}),
                  running(job_of(2, 8, 910, 7200), {{1, 0xff}}), job_of(3, 12, 60, 60)});
  REQUIRE(two.earlier(2).size() == 1);
  CHECK(two.earlier(2)[0].job.gpus == 8);  // one node, where half would be six
  const Site small("fifo", {1},
                   {running(job_of(1, 3, 910, 7200), {{0, 0x7}}), job_of(2, 8, 60, 60)});
  REQUIRE(small.earlier(1).size() == 1);
  CHECK(small.earlier(1)[0].job.gpus == 5);
}

TEST_CASE("a limit of its true run time lets a job go before the one that waits for the node") {
  for (const auto* policy : {"backfill_easy", "slurm_backfill"}) {
    CAPTURE(policy);
    const Site site(policy, {1},
                    {running(job_of(1, 4, 1810, 1810), {{0, 0xf}}), job_of(2, 8, 600, 600),
                     job_of(3, 4, 290, 7200)});
    CHECK(site.start(2) == now + Seconds(2400));
    const auto found = site.earlier(2);
    REQUIRE(found.size() == 1);
    CHECK(found[0].change == JobChange::limit);
    CHECK(found[0].job.limit == Seconds(300));
    CHECK(found[0].after == now);
    CHECK(found[0].covers == 1);
  }
  // Who goes strictly in turn looks at no limit.
  const Site fifo("fifo", {1},
                  {running(job_of(1, 4, 1810, 1810), {{0, 0xf}}), job_of(2, 8, 600, 600),
                   job_of(3, 4, 290, 7200)});
  CHECK(fifo.earlier(2).empty());
}

TEST_CASE("another pool is empty") {
  const Site site("fifo", {1, 2},
                  {running(job_of(1, 8, 910, 7200), {{0, 0xff}}), job_of(2, 8, 60, 60)});
  const auto found = site.earlier(1, {.pools = {0, 1, 7}});
  REQUIRE(found.size() == 1);
  CHECK(found[0].change == JobChange::pool);
  CHECK(found[0].job.pool == 1);
  CHECK(found[0].after == now);
  CHECK(site.earlier(1).empty());
}

TEST_CASE("nothing helps") {
  const Site full("slurm_backfill", {1},
                  {running(job_of(1, 8, 910, 7200), {{0, 0xff}}), job_of(2, 8, 60, 60)});
  CHECK(full.earlier(1).empty());
  const Site starts("fifo", {1}, {job_of(1, 8, 60, 60)});
  CHECK(starts.earlier(0).empty());
  // Forty seconds are not worth a change, nor are five minutes of an hour and a half.
  const Site soon("fifo", {1}, {running(job_of(1, 4, 50, 60), {{0, 0xf}}), job_of(2, 8, 60, 60)});
  CHECK(soon.earlier(1).empty());
  const Site late("fifo", {1},
                  {running(job_of(1, 4, 5110, 7200), {{0, 0xf}}),
                   running(job_of(2, 4, 5410, 7200), {{0, 0xf0}}), job_of(3, 8, 60, 60)});
  CHECK(late.earlier(2).empty());
  CHECK_FALSE(what_starts_earlier(full.snapshot, full.scheduler, {}, {0}));
  CHECK_FALSE(what_starts_earlier(full.snapshot, full.scheduler, {}, {9}));
}

TEST_CASE("what is held, or may begin later, by its owner's own doing") {
  SnapshotJob held = job_of(1, 4, 60, 60);
  held.kept_out = true;
  SnapshotJob later = job_of(2, 4, 60, 60);
  later.eligible = now + Seconds(7200);
  const Site site("fifo", {1}, {held, later});
  for (const std::size_t job : {0U, 1U}) {
    CAPTURE(job);
    CHECK(site.earlier(job).empty());
    const auto found = site.earlier(job, {.release = true});
    REQUIRE(found.size() == 1);
    CHECK(found[0].change == JobChange::release);
    CHECK(found[0].after == now);
    CHECK(found[0].before == (job == 0 ? never : now + Seconds(7200)));
  }
}

TEST_CASE("a limit that ends before a reservation begins") {
  SnapshotJob waits = job_of(1, 4, 600, 7200);
  waits.eligible = now + Seconds(5000);
  const Site site("fifo", {1}, {waits});
  const auto found = site.earlier(0, {.limit_to_start_now = Seconds(1030)});
  REQUIRE(found.size() == 1);
  CHECK(found[0].change == JobChange::limit);
  CHECK(found[0].job.limit == Seconds(1020));
  CHECK(found[0].after == now);
  CHECK(site.earlier(0, {.limit_to_start_now = Seconds(599)}).empty());  // it would be killed
}

/// Some nodes are taken, in part; others wait.
Site random_site(std::string_view policy, std::uint64_t seed) {
  Random random(mix(seed));
  std::vector<SnapshotJob> jobs;
  int number = 0;
  const auto next = [&] {
    constexpr std::array sizes{1, 1, 2, 4, 8, 12, 16, 24};
    const std::int64_t ran_s = random.between(20, random.below(4) == 0 ? 20'000 : 2000);
    SnapshotJob made =
        job_of(++number, sizes[static_cast<std::size_t>(random.below(std::ssize(sizes)))], ran_s,
               random.below(2) == 0 ? ran_s + random.below(600) : ran_s * random.between(2, 20));
    made.user = static_cast<std::uint32_t>(random.below(4));
    made.pool = static_cast<std::uint32_t>(random.below(2));
    return made;
  };
  for (std::uint32_t pool = 0; pool < 2; ++pool)
    for (std::uint32_t node = 0; node < 4; ++node) {
      if (random.below(5) == 0) continue;
      SnapshotJob made = next();
      made.pool = pool;
      made.gpus = static_cast<int>(random.between(1, 8));
      jobs.push_back(
          running(made, {{node, (std::uint64_t{1} << static_cast<unsigned>(made.gpus)) - 1}}));
    }
  for (int i = 0; i < 12; ++i) jobs.push_back(next());
  return {policy, {4, 4}, std::move(jobs)};
}

TEST_CASE("what is told comes true when it is done") {
  std::size_t told = 0, waiting = 0;
  std::array<std::size_t, 4> kinds{};
  for (const auto* policy : {"fifo", "sjf", "backfill_easy", "slurm_backfill"})
    for (std::uint64_t seed = 0; seed < 15; ++seed) {
      CAPTURE(policy);
      CAPTURE(seed);
      Site site = random_site(policy, seed);
      for (std::size_t i = 0; i < site.snapshot.jobs.size(); ++i) {
        if (site.snapshot.jobs[i].started) continue;
        ++waiting;
        CAPTURE(i);
        const SimTime before = site.start(i);
        const SnapshotJob as_it_was = site.snapshot.jobs[i];
        for (const Earlier& each : site.earlier(i, {.pools = {0, 1}})) {
          ++told;
          ++kinds[static_cast<std::size_t>(each.change)];
          CHECK(each.before == before);
          CHECK(each.share == 1);
          site.snapshot.jobs[i] = each.job;
          CHECK(site.start(i) == each.after);
          CHECK(each.after < before - Seconds(60));
          site.snapshot.jobs[i] = as_it_was;
        }
      }
    }
  CHECK(told > waiting / 4);
  CHECK(kinds[0] > 0);
  CHECK(kinds[1] > 0);
  CHECK(kinds[2] > 0);
}

}  // namespace
}  // namespace schedmate::eta
