// SPDX-License-Identifier: Apache-2.0
#include "daemon/forecasts.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <schedmate/scheduler.hpp>
#include <utility>

#include "daemon/foresight.hpp"
#include "tests/support/need.hpp"

namespace schedmate::daemon {

TEST_CASE("a job that runs in another partition than it was submitted to counts where it runs") {
  Listing listing;
  listing.now = at(1'000'000);
  listing.nodes = {{"m1", "main", 1, NodeState::up, ""}, {"p1", "profiler", 1, NodeState::up, ""}};
  for (const auto& [id, node] : {std::pair("1", "m1"), {"2", "p1"}}) {
    SeenJob& job = listing.jobs.emplace_back();
    job.id = id;
    job.user = "ann";
    job.partition = "main";
    job.gpus = 1;
    job.submitted = job.started.emplace(listing.now - Seconds(60));
    job.phase = JobPhase::running;
    job.nodes = {{node, {0}}};
  }
  Forecasts forecasts;
  Hindsight hindsight;
  const ClusterSpec none;
  const Scheduler fifo = testing::need(make_scheduler("fifo", {none}, {}));
  CHECK(forecast_of(forecasts.question(listing, {}), fifo, hindsight));
}

/// Two jobs on a GPU each that began 1,000 s ago, and a third that waits for one of them.
struct Three {
  static constexpr std::int64_t now_s = 1'000'000;
  Listing listing;
  Three() {
    listing.now = at(now_s);
    listing.nodes = {{"n1", "main", 2, NodeState::up, ""}};
    for (const auto& [id, gpu] : {std::pair("1", 0), {"2", 1}, {"3", -1}}) {
      SeenJob& job = listing.jobs.emplace_back();
      job.id = id;
      job.user = "ann";
      job.partition = "main";
      job.gpus = 1;
      job.submitted = at(now_s - 1000);
      if (gpu < 0) continue;
      job.started = job.submitted;
      job.phase = JobPhase::running;
      job.nodes = {{"n1", {gpu}}};
    }
  }
  [[nodiscard]] Forecast forecast(const KnownRuns& runs) const {
    Forecasts forecasts;
    Hindsight hindsight;
    const ClusterSpec none;
    const Scheduler fifo = testing::need(make_scheduler("fifo", {none}, {}));
    return testing::need(forecast_of(forecasts.question(listing, {}, runs), fifo, hindsight));
  }
};

TEST_CASE("a forecast stands on the log of a run first, then on advice, then on past runs") {
  const Three here;
  const RunTimeDistribution hour{FractionalSeconds(3600), FractionalSeconds(3500),
                                 FractionalSeconds(3600), FractionalSeconds(3700)};
  const Forecast by_past = here.forecast({});
  CHECK(by_past.jobs.at("1").by == RunTimeSource::user);
  const Forecast made = here.forecast(
      {{"1", {.advised = hour, .progress = eta::ToldProgress{1000, 500}}}, {"2", {hour, {}}}});
  const auto& followed = made.jobs.at("1");
  CHECK(followed.by == RunTimeSource::progress);
  CHECK(followed.end.p50 >= at(Three::now_s + 500));
  CHECK(followed.end.p50 < at(Three::now_s + 700));
  const auto& advised = made.jobs.at("2");
  CHECK(advised.by == RunTimeSource::advisor);
  CHECK(advised.end.p50 > at(Three::now_s + 2400));
  CHECK(advised.end.p50 < at(Three::now_s + 2800));
  CHECK(made.jobs.at("3").start->p50 == followed.end.p50);
}

TEST_CASE("no job is expected to run beyond its limit") {
  Three here;
  here.listing.jobs[0].limit = Seconds(1200);
  const Forecast made = here.forecast({});
  CHECK(made.jobs.at("1").end.p90 <= at(Three::now_s + 200));
  CHECK(made.jobs.at("2").end.p90 > at(Three::now_s + 200));
}

TEST_CASE("a job that the cluster keeps back is expected when it may start, or not at all") {
  Three here;
  auto& blocked = here.listing.jobs[2].blocked;
  const SimTime early = here.forecast({}).jobs.at("3").start->p50;
  blocked = {"BeginTime", "begin_time", "later", early + Seconds(86'400)};
  CHECK(here.forecast({}).jobs.at("3").start->p50 == *blocked->until);
  blocked = {"Dependency", "dependency", "it waits for other jobs"};
  const Forecast made = here.forecast({});
  CHECK(made.jobs.at("3").block == QueueBlock::kept_out);
  const auto& start = made.jobs.at("3").start;
  CHECK((!start || start->p50 == never));
}

/// What is known of job 1 when its log was looked at just now.
struct Looked : Three {
  live::Life life{.submitted = at(now_s - 1000)};
  Looked() {
    life.looked = listing.now;
    life.log = live::LogFound{.remaining_s = 500, .written = at(now_s - 10), .accounted_s = {990}};
  }
  [[nodiscard]] KnownRuns known(const std::string& id = "1") const {
    live::Jobs jobs;
    (void)jobs.take(listing);
    live::Lives lives;
    lives.recall(id, life);
    return known_runs(jobs, lives, listing.now);
  }
};

TEST_CASE("a log tells what is left of the run that its counters account for") {
  Looked here;
  REQUIRE(here.known().contains("1"));
  CHECK(here.known().at("1").progress->ran_s == 990);
  CHECK(here.known().at("1").progress->left_s == 500);
  CHECK(here.known("3").empty());  // it waits
  CHECK(here.known("7").empty());  // the cluster shows it no more
  here.life.log->written.reset();
  CHECK(here.known().at("1").progress->ran_s == 1000);
  here.life.log->accounted_s = {100};
  CHECK(here.known().empty());
  here.life.log->accounted_s = {990};
  here.life.log->remaining_s.reset();
  CHECK(here.known().empty());
  here.life.log->remaining_s = 500;
  here.life.log->written = at(Three::now_s - 2000);  // another run's
  CHECK(here.known().empty());
  here.listing.jobs[0].started = here.listing.jobs[0].submitted = at(Three::now_s - 9000);
  here.life.submitted = here.listing.jobs[0].submitted;
  here.life.log->written = at(Three::now_s - 4000);
  here.life.log->accounted_s = {5000};
  here.life.looked = at(Three::now_s - 3900);  // nobody has read it since
  CHECK(here.known().empty());                 // too long ago
}

TEST_CASE("advice counts in a forecast where its user was given a length") {
  Looked here;
  here.life.log.reset();
  const RunTimeDistribution hour{FractionalSeconds(3600), FractionalSeconds(3500),
                                 FractionalSeconds(3600), FractionalSeconds(3700)};
  here.life.code = live::CodeFound{.prediction = Prediction{.distribution = hour}, .p50 = hour.p50};
  REQUIRE(here.known("3").contains("3"));
  CHECK(here.known("3").at("3").advised->p50 == FractionalSeconds(3600));
  here.life.code->gives_length = false;
  CHECK(here.known("3").empty());
}

TEST_CASE("forecasts take a fortieth of a core, those of a minute and more at most half") {
  using std::chrono::milliseconds, std::chrono::seconds;
  CHECK(forecast_period(milliseconds(3)) == seconds(1));
  CHECK(forecast_period(milliseconds(100)) == seconds(4));
  CHECK(forecast_period(seconds(3)) == seconds(60));
  CHECK(forecast_period(seconds(100)) == seconds(200));
}

namespace {

SeenJob job_in(JobPhase phase) {
  SeenJob job;
  job.id = "a";
  job.phase = phase;
  return job;
}

Document three(Document p10, Document p50, Document p90) {
  return {{"p10", std::move(p10)}, {"p50", std::move(p50)}, {"p90", std::move(p90)}};
}

}  // namespace

TEST_CASE("what is expected of a job as text is the document of it") {
  Forecast made{.now = at(100), .samples = 20, .jobs = {}};
  made.jobs["a"].start = InstantQuantiles{at(101), at(102), at(103), at(104), never};
  made.jobs["a"].end = {at(105), at(106), never, never, never};
  const SeenJob job = job_in(JobPhase::queued);
  CHECK(eta_of(&made, job, at(100)) == Document{{"start_s", three(101, 103, nullptr)},
                                                {"end_s", three(105, nullptr, nullptr)},
                                                {"as_of_s", 100},
                                                {"samples", 20},
                                                {"by", "site"}});
  CHECK(eta_of(nullptr, job, at(100)).is_null());
  made.jobs.clear();
  CHECK(eta_of(&made, job, at(100)).is_null());
}

TEST_CASE("a job that runs has no start ahead, one that has ended nothing") {
  Forecast made{.now = at(100), .samples = 20, .jobs = {}};
  made.jobs["a"].start = made.jobs["a"].end = {at(101), at(102), at(103), at(104), at(105)};
  const Document runs = eta_of(&made, job_in(JobPhase::running), at(101));
  CHECK(runs["start_s"].is_null());
  CHECK(runs["end_s"]["p90"] == 105);
  CHECK(eta_of(&made, job_in(JobPhase::ended), at(101)).is_null());
}

TEST_CASE("nothing is expected before now: what time has passed over is taken off") {
  Forecast made{.now = at(0), .samples = 20, .jobs = {}};
  made.jobs["a"].start = InstantQuantiles{at(100), at(1000), at(2000), at(3000), at(4000)};
  made.jobs["a"].end = {at(5000), at(6000), at(7000), never, never};
  const auto at_time = [&](std::int64_t now_s, const char* part) {
    return eta_of(&made, job_in(JobPhase::queued), at(now_s))[part];
  };
  CHECK(at_time(100, "start_s") == three(100, 2000, 4000));
  CHECK(at_time(2000, "start_s") == three(2000, 2800, 4000));  // of 50 to 90 %: 70 %
  CHECK(at_time(3500, "start_s") == three(3500, 3750, 4000));
  CHECK(at_time(4060, "start_s") == three(4060, 4060, 4060));
  CHECK(at_time(4061, "start_s") == three(nullptr, nullptr, nullptr));
  CHECK(at_time(5500, "end_s") == three(5500, nullptr, nullptr));
}

}  // namespace schedmate::daemon
