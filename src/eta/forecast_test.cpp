// SPDX-License-Identifier: Apache-2.0

/// Forecasts against replays of the simulator: who knows all run times is right to the second.

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <schedmate/eta.hpp>
#include <schedmate/sim.hpp>
#include <set>

#include "base/random.hpp"
#include "eta/replayed_queue.hpp"
#include "eta/run_time_model.hpp"
#include "tests/support/estimators.hpp"
#include "tests/support/near.hpp"
#include "tests/support/need.hpp"
#include "tests/support/small.hpp"

namespace schedmate::eta {
namespace {

using testing::near;
using testing::need;
using testing::small_cluster;
using testing::small_trace;
using testing::SmallJob;

Trace random_trace(std::uint64_t seed) {
  Random random(mix(seed));
  std::vector<SmallJob> jobs;
  std::int64_t now_s = 0;
  for (int i = 0; i < 200; ++i) {
    now_s += random.below(3) == 0 ? random.below(400) : 0;
    constexpr std::array sizes{1, 1, 2, 4, 8, 8, 12, 16, 32};
    jobs.push_back({.submit_s = now_s,
                    .gpus = sizes[static_cast<std::size_t>(random.below(std::ssize(sizes)))],
                    .duration_s = random.between(1, random.below(5) == 0 ? 4000 : 400),
                    .vc = static_cast<std::uint32_t>(random.below(2)),
                    .user = static_cast<std::uint32_t>(random.below(4))});
  }
  return small_trace(jobs);
}

/// A replay with true run times as estimates.
struct Replayed {
  Trace trace;
  ClusterSpec cluster = small_cluster({4, 5});
  Scheduler scheduler;
  SimResult result;
  std::vector<Seconds> durations;
  std::vector<Seconds> no_limits;

  Replayed(std::string_view policy, Trace given) : trace(std::move(given)) {
    scheduler = need(make_scheduler(policy, {cluster}, {}));
    SimOptions options;
    options.estimator = testing::estimator("oracle", trace);
    result = simulate(trace, cluster, scheduler, options).value();
    for (const Job& job : trace.jobs) durations.push_back(job.duration);
  }
  [[nodiscard]] ReplayedTrace view() const {
    return {trace, cluster, result.outcomes, durations, no_limits};
  }
};

RunTimeBelief knows(const Job& job) {
  return {.curve = nullptr, .known_s = static_cast<double>(job.duration.count())};
}

/// What comes later is told as well: nobody else may know.
void tell_truth(QueueSnapshot& snapshot, const std::vector<std::uint32_t>& rows,
                const Trace& trace) {
  snapshot.past.clear();
  for (std::size_t i = 0; i < rows.size(); ++i)
    snapshot.jobs[i].belief = knows(trace.jobs[rows[i]]);
}

/// A random queue at the last submission, of which all is known, and what becomes of it.
struct KnownQueue {
  SimTime now;
  Replayed replayed;
  std::vector<std::uint32_t> rows;
  QueueSnapshot snapshot;

  KnownQueue(const char* policy, Trace trace)
      : now(trace.jobs.back().submit), replayed(policy, std::move(trace)) {
    const ReplayedQueue queue(replayed.view());
    snapshot = queue.snapshot_at(now);
    rows = queue.rows_at(now);
    tell_truth(snapshot, rows, replayed.trace);
  }
  [[nodiscard]] QueueForecast forecast(const EtaOptions& options) const {
    return need(forecast_queue(snapshot, replayed.scheduler, options));
  }
  [[nodiscard]] const JobOutcome& truth(std::size_t job) const {
    return replayed.result.outcomes[rows[job]];
  }
};

TEST_CASE("with all run times known and nothing to come, a forecast is what then happens") {
  for (const auto* policy : {"fifo", "sjf", "qssf", "backfill_easy"}) {
    CAPTURE(policy);
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      CAPTURE(seed);
      const KnownQueue queue(policy, random_trace(seed));
      const auto forecast = queue.forecast({.samples = 3, .resolution = 0});
      REQUIRE(forecast.jobs.size() == queue.rows.size());
      std::size_t waited = 0;
      for (std::size_t i = 0; i < queue.rows.size(); ++i) {
        CAPTURE(queue.snapshot.jobs[i].id);
        const JobOutcome& truth = queue.truth(i);
        const JobForecast& told = forecast.jobs[i];
        CHECK(told.end.p10 == truth.end);
        CHECK(told.end.p90 == truth.end);
        CHECK(told.start.has_value() == (truth.start > queue.now));
        if (!told.start) continue;
        ++waited;
        CHECK(told.start->p50 == truth.start);
      }
      CHECK(waited > 0);
    }
  }
}

/// Of starts that lie in the future: by how much of the wait they are off, on average.
struct Off {
  double log = 0, signed_log = 0;
  std::size_t waits = 0;
};

Off off_by_default(const char* policy) {
  Off off;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const KnownQueue queue(policy, random_trace(seed));
    const auto forecast = queue.forecast({.samples = 1});
    for (std::size_t i = 0; i < queue.rows.size(); ++i) {
      if (!forecast.jobs[i].start) continue;
      const auto wait = [&](SimTime start) { return FractionalSeconds(start - queue.now).count(); };
      const double log =
          std::log((60 + wait(forecast.jobs[i].start->p50)) / (60 + wait(queue.truth(i).start)));
      off.log += std::abs(log);
      off.signed_log += log;
      ++off.waits;
    }
  }
  off.log /= static_cast<double>(off.waits);
  off.signed_log /= static_cast<double>(off.waits);
  return off;
}

TEST_CASE("events that are replayed as one move starts by little, and to neither side") {
  for (const auto* policy : {"fifo", "sjf", "qssf", "backfill_easy"}) {
    CAPTURE(policy);
    const Off coarse = off_by_default(policy);
    REQUIRE(coarse.waits > 300);
    CHECK(coarse.log < 0.02);
    CHECK(std::abs(coarse.signed_log) < 0.005);
  }
}

TEST_CASE("equal seeds give equal forecasts, on one thread or many") {
  Trace trace = random_trace(7);
  const SimTime now = trace.jobs[150].submit;
  const Replayed replayed("fifo", std::move(trace));
  const QueueSnapshot snapshot = ReplayedQueue(replayed.view()).snapshot_at(now);
  const auto waits = [&](int threads) {
    std::vector<double> all;
    for (const auto& job :
         need(forecast_queue(snapshot, replayed.scheduler, {.samples = 60, .threads = threads}))
             .jobs)
      all.insert(all.end(), job.waits_s.begin(), job.waits_s.end());
    return all;
  };
  CHECK(waits(1) == waits(3));
  CHECK(!waits(1).empty());
}

TEST_CASE("a job waits for the end of the one that holds its GPUs") {
  QueueSnapshot snapshot;
  snapshot.now = at(100);
  snapshot.pools = small_cluster({1}).partitions;
  Job known;
  known.duration = Seconds(500);
  snapshot.jobs = {{.id = "runs",
                    .gpus = 8,
                    .submit = at(0),
                    .started = at(50),
                    .where = {},
                    .limit = {},
                    .belief = knows(known)},
                   {.id = "waits",
                    .gpus = 4,
                    .submit = at(60),
                    .started = {},
                    .where = {},
                    .limit = {},
                    .belief = knows(known)},
                   {.id = "huge",
                    .gpus = 99,
                    .submit = at(70),
                    .started = {},
                    .where = {},
                    .limit = {},
                    .belief = knows(known)}};
  const Scheduler fifo = need(make_scheduler("fifo", {ClusterSpec{snapshot.pools}}, {}));
  const auto forecast = need(forecast_queue(snapshot, fifo, {}));
  CHECK(forecast.jobs[0].end.p50 == at(550));
  CHECK(forecast.jobs[1].start->p50 == at(550));
  CHECK(forecast.jobs[1].block == QueueBlock::gpus);
  REQUIRE(forecast.jobs[1].awaited.size() == 1);
  CHECK(forecast.jobs[1].awaited[0].job == 0);
  CHECK(forecast.jobs[2].block == QueueBlock::too_large);
  CHECK(forecast.jobs[2].start->p50 == never);
  snapshot.jobs[1].limit = Seconds(60);
  CHECK(need(forecast_queue(snapshot, fifo, {})).jobs[1].end.p90 == at(610));
  snapshot.jobs[0].started = at(101);
  CHECK(forecast_queue(snapshot, fifo, {}).error().message ==
        "job runs runs since a time after the snapshot's");
}

TEST_CASE("what ends behind the horizon ends never, as far as can be told") {
  QueueSnapshot snapshot;
  snapshot.now = at(100);
  snapshot.pools = small_cluster({1}).partitions;
  snapshot.jobs.resize(2);
  snapshot.jobs[0].id = "runs";
  snapshot.jobs[0].started = at(50);
  snapshot.jobs[0].belief.known_s = 5000;
  snapshot.jobs[1].id = "waits";
  snapshot.jobs[1].belief.known_s = 5000;
  const Scheduler fifo = need(make_scheduler("fifo", {ClusterSpec{snapshot.pools}}, {}));
  const auto ends = [&](Seconds horizon) {
    const auto jobs = need(forecast_queue(snapshot, fifo, {.horizon = horizon})).jobs;
    CHECK(jobs[1].start->p50 == at(100));
    return std::array{jobs[0].end.p50, jobs[1].end.p50};
  };
  CHECK(ends(Seconds(5000)) == std::array{at(5050), at(5100)});
  CHECK(ends(Seconds(4950)) == std::array{at(5050), never});
  CHECK(ends(Seconds(4949)) == std::array{never, never});
}

TEST_CASE("a job that holds one GPU again and again is an error") {
  QueueSnapshot snapshot;
  snapshot.now = at(100);
  snapshot.pools = small_cluster({1}).partitions;
  snapshot.jobs.resize(1);
  snapshot.jobs[0].id = "odd";
  snapshot.jobs[0].gpus = 5;
  snapshot.jobs[0].started = at(50);
  snapshot.jobs[0].where = {{0, 1}, {0, 1}, {0, 1}, {0, 1}, {0, 1}};
  const Scheduler fifo = need(make_scheduler("fifo", {ClusterSpec{snapshot.pools}}, {}));
  CHECK(forecast_queue(snapshot, fifo, {}).error().message ==
        "job odd runs on a GPU that it has twice");
}

TEST_CASE("nodes that come back, jobs that may start later, jobs that are kept out") {
  QueueSnapshot snapshot;
  snapshot.now = at(100);
  snapshot.pools = small_cluster({2}).partitions;
  snapshot.changes = {{at(50), 0, 0, NodeState::drained},
                      {at(60), 0, 1, NodeState::down},
                      {at(400), 0, 0, NodeState::up}};
  Job known;
  known.duration = Seconds(500);
  const auto job = [&](const char* id, int gpus) {
    SnapshotJob made;
    made.id = id;
    made.gpus = gpus;
    made.submit = at(60);
    made.belief = knows(known);
    return made;
  };
  SnapshotJob runs = job("runs", 8);
  runs.started = at(50);
  runs.where = {{1, 0xff}};
  SnapshotJob later = job("later", 4);
  later.eligible = at(700);
  SnapshotJob kept = job("kept", 4);
  kept.kept_out = true;
  snapshot.jobs = {runs, job("first", 4), later, kept, job("wide", 16)};
  const Scheduler easy = need(make_scheduler("backfill_easy", {ClusterSpec{snapshot.pools}}, {}));
  const auto forecast = need(forecast_queue(snapshot, easy, {}));
  const auto start = [&](std::size_t i) { return forecast.jobs[i].start->p50; };
  CHECK(forecast.jobs[0].end.p50 == at(550));  // a drained node's job runs on
  CHECK(start(1) == at(400));
  CHECK(forecast.jobs[1].block == QueueBlock::gpus);
  CHECK(start(2) == at(700));
  CHECK(forecast.jobs[2].block == QueueBlock::too_early);
  CHECK(start(3) == never);
  CHECK(forecast.jobs[3].block == QueueBlock::kept_out);
  CHECK(start(4) == never);  // node 1 does not come back
  CHECK(forecast.jobs[4].block == QueueBlock::gpus);

  snapshot.changes.push_back({at(500), 0, 7, NodeState::up});
  const auto wrong = forecast_queue(snapshot, easy, {});
  REQUIRE_FALSE(wrong);
  CHECK(wrong.error().code == ErrorCode::invalid);
}

TEST_CASE("run times are drawn from a curve, given how long a job ran and how long it may") {
  RunTimeCurve::Chances chances{};
  const auto bin = [](double seconds) {
    return static_cast<std::size_t>(RunTimeCurve::place_of(seconds));
  };
  chances[bin(100)] = 0.5;
  chances[bin(10'000)] = 0.999F;
  const RunTimeCurve curve(chances);
  CHECK(near(curve.draw(0.2, 0), 100, 0.1, 0));
  CHECK(near(curve.draw(0.8, 0), 10'000, 0.1, 0));
  CHECK(near(curve.draw(0.2, 200), 10'000, 0.1, 0));
  CHECK(near(curve.draw(0.8, 0, 5000), 100, 0.1, 0));  // none of the longer ones may
  CHECK(near(curve.draw(0.5, 200, 1000), 600, 0.1, 0));
  CHECK(curve.draw(0.999999, 0) > 1e6);  // one in a thousand goes on to the last bin
  for (const double ran : {0.0, 59.0, 1e4, 1e8})
    for (const double share : {0.0, 0.1, 0.5, 0.999}) {
      CHECK(curve.draw(share, ran) >= ran);
      CHECK(curve.draw(share, ran, ran + 50) <= ran + 50);
      CHECK(curve.draw(share, ran) <= curve.draw(share + 0.0005, ran));
    }
  const RunTimeBelief nothing;
  CHECK(nothing.draw(0.5, 100) == 200);
  CHECK(nothing.draw(0.5, 50, 60) == 55);
}

TEST_CASE("what is believed of a run: own runs, bursts, lower bounds, the site") {
  const auto run = [](std::uint32_t user, std::int64_t submit, double seconds, bool ended = true) {
    return Submitted{.user = user,
                     .pool = 0,
                     .gpus = 1,
                     .submit = at(submit),
                     .start = at(submit),
                     .ran_s = seconds,
                     .ended = ended};
  };
  const auto waits = [](std::uint32_t user, std::int64_t submit) {
    return Submitted{.user = user, .pool = 0, .gpus = 1, .submit = at(submit)};
  };
  std::vector<Submitted> all;
  for (std::int64_t i = 0; i < 50; ++i) all.push_back(run(1, i * 10'000, 1000));
  for (std::int64_t i = 0; i < 50; ++i) all.push_back(run(2, 500'000 + i * 1000, 20'000));
  all.push_back(waits(1, 600'000));
  all.push_back(waits(2, 600'010));
  all.push_back(waits(3, 600'020));
  const RunTimeModel model(all, at(600'100));
  const auto median = [](const RunTimeModel& of, std::size_t i) {
    return of.belief(i).draw(0.5, 0);
  };
  CHECK(near(median(model, 100), 1000, 0.1, 0));
  CHECK(near(median(model, 101), 20'000, 0.1, 0));
  CHECK(median(model, 102) > 500);
  CHECK(median(model, 102) < 40'000);
  CHECK(model.has_own(100));
  CHECK_FALSE(model.has_own(102));
  CHECK(model.burst(100) != model.burst(101));
  // Two siblings of the burst ended after five hours, so this one will; that one still runs after
  // ten makes it longer.
  all.resize(100);
  all.push_back(run(1, 600'000, 18'000));
  all.push_back(run(1, 600'100, 18'000));
  all.push_back(waits(1, 600'200));
  const RunTimeModel burst(all, at(640'000));
  CHECK(burst.burst(100) == burst.burst(102));
  CHECK(near(median(burst, 102), 18'000, 0.15, 0));
  all[100] = run(1, 600'000, 36'000, false);
  all[101] = run(1, 600'100, 36'000, false);
  const RunTimeModel open(all, at(640'000));
  CHECK(open.belief(102).draw(0.9, 0) > burst.belief(102).draw(0.9, 0));
  CHECK(RunTimeModel({}, at(0)).site() == nullptr);
}

TEST_CASE("beliefs of several jobs are those of each, and alike ones share a curve") {
  Random random(7);
  std::vector<Submitted> all;
  std::vector<std::size_t> which;
  for (std::size_t i = 0; i < 400; ++i) {
    Submitted& made = all.emplace_back();
    made.user = static_cast<std::uint32_t>(random.below(3));
    made.pool = static_cast<std::uint32_t>(random.below(2));
    made.gpus = static_cast<std::int32_t>(random.between(1, 2));
    made.submit = at(static_cast<std::int64_t>(i) * 50);
    made.ended = random.below(3) == 0;
    if (made.ended || random.below(6) == 0) made.start = made.submit;
    made.ran_s = made.start ? static_cast<double>(random.between(10, 100'000)) : 0;
    if (!made.ended) which.push_back(i);
  }
  const RunTimeModel model(all, at(90'000));
  const auto beliefs = model.beliefs(which);
  REQUIRE(beliefs.size() == which.size());
  std::set<const RunTimeCurve*> curves;
  for (std::size_t i = 0; i < which.size(); ++i) {
    for (const double share : {0.1, 0.5, 0.9})
      CHECK(beliefs[i].draw(share, 0) == model.belief(which[i]).draw(share, 0));
    curves.insert(beliefs[i].curve.get());
  }
  CHECK(curves.size() < which.size());
}

}  // namespace
}  // namespace schedmate::eta
