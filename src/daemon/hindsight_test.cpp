// SPDX-License-Identifier: Apache-2.0
#include "daemon/hindsight.hpp"

#include <doctest/doctest.h>

#include <deque>
#include <string>

#include "tests/support/near.hpp"

namespace schedmate::daemon {
namespace {

constexpr std::int64_t hour = 3600, day = 24 * hour;

SeenJob gone(const std::string& id, SimTime submitted, SimTime started, SimTime ended) {
  SeenJob job;
  job.id = id;
  job.submitted = submitted;
  job.phase = JobPhase::ended;
  job.started = started;
  job.ended = ended;
  return job;
}

/// One job that waits, with starts expected in 1 to 2 hours and ends an hour later.
struct Asked {
  QueueSnapshot snapshot;
  QueueForecast forecast;
  Asked(std::string_view id, SimTime now) {
    snapshot.now = now;
    snapshot.pools.resize(1);
    SnapshotJob& job = snapshot.jobs.emplace_back();
    job.id = id;
    job.submit = now;
    JobForecast& made = forecast.jobs.emplace_back();
    made.start = {now + Seconds(hour), now + Seconds(hour), now + Seconds(3 * hour / 2),
                  now + Seconds(2 * hour), now + Seconds(2 * hour)};
    made.end = *made.start;
    for (const auto at : instants_of_shares) made.end.*at += Seconds(hour);
  }
};

/// The start that is told next, after 100 jobs that each started so much later than expected in
/// the middle.
double median_after(std::int64_t late_s) {
  Hindsight hindsight;
  for (int i = 0; i < 100; ++i) {
    const SimTime now = at(i * day);
    const std::string id = "j" + std::to_string(i);
    const Asked asked(id, now);
    hindsight.note(asked.snapshot, asked.forecast);
    const SimTime started = now + Seconds(3 * hour / 2 + late_s);
    hindsight.ended(gone(id, now, started, started + Seconds(hour)));
  }
  Asked next("next", at(200 * day));
  calibrate(next.forecast, next.snapshot, hindsight.calibration(next.snapshot.now));
  return FractionalSeconds(next.forecast.jobs[0].start->p50 - next.snapshot.now).count();
}

}  // namespace

TEST_CASE("what came of earlier forecasts corrects the next") {
  CHECK(testing::near(median_after(0), 1.5 * hour, 0.02, 0));
  CHECK(testing::near(median_after(3 * hour), 4.5 * hour, 0.05, 0));
  CHECK(testing::near(median_after(-hour), 0.5 * hour, 0.05, 0));
}

TEST_CASE("few forecasts correct nothing; the first of a job counts, once") {
  Hindsight hindsight;
  const SimTime now = at(0);
  const Asked asked("1", now);
  for (int i = 0; i < 50; ++i) hindsight.note(asked.snapshot, asked.forecast);
  CHECK(hindsight.calibration(at(10)).size(ForecastKind::start) == 1);  // not yet
  hindsight.ended(gone("1", now, at(hour), at(2 * hour)));
  hindsight.ended(gone("1", now, at(hour), at(2 * hour)));
  CHECK(hindsight.calibration(at(3 * hour)).size(ForecastKind::start) == 1);
  CHECK(hindsight.calibration(at(3 * hour)).size(ForecastKind::end_of_waiting) == 1);
  Asked next("2", at(day));
  calibrate(next.forecast, next.snapshot, hindsight.calibration(next.snapshot.now));
  CHECK(next.forecast.jobs[0].start->p50 == at(day + 3 * hour / 2));
}

TEST_CASE("a start that a snapshot shows counts; jobs that are gone without a run do not") {
  Hindsight hindsight;
  Asked asked("1", at(0));
  hindsight.note(asked.snapshot, asked.forecast);
  asked.snapshot.now = at(hour);
  asked.snapshot.jobs[0].started = at(hour / 2);
  asked.forecast.jobs[0].start.reset();
  hindsight.note(asked.snapshot, asked.forecast);
  const EtaCalibration known = hindsight.calibration(at(2 * hour));
  CHECK(known.size(ForecastKind::start) == 1);
  CHECK(known.size(ForecastKind::end_of_waiting) == 1);
  CHECK(known.size(ForecastKind::end_of_running) == 1);
  asked.snapshot.jobs.clear();
  asked.forecast.jobs.clear();
  hindsight.note(asked.snapshot, asked.forecast);
  CHECK(hindsight.calibration(at(2 * hour)).size(ForecastKind::start) == 1);
  CHECK(hindsight.calibration(at(2 * hour)).size(ForecastKind::end_of_running) == 0);
}

TEST_CASE("of a long queue some are followed") {
  Hindsight hindsight;
  Asked asked("0", at(0));
  std::deque<std::string> ids;
  for (int i = 1; i < 30'000; ++i) {
    asked.snapshot.jobs.push_back(asked.snapshot.jobs[0]);
    asked.snapshot.jobs.back().id = ids.emplace_back(std::to_string(i));
    asked.forecast.jobs.push_back(asked.forecast.jobs[0]);
  }
  hindsight.note(asked.snapshot, asked.forecast);
  for (const SnapshotJob& job : asked.snapshot.jobs)
    hindsight.ended(gone(std::string(job.id), at(0), at(hour), at(2 * hour)));
  CHECK(hindsight.calibration(at(2 * hour)).size(ForecastKind::start) == Hindsight::most);
}

TEST_CASE("an id that comes again is another job, and no more are kept than are needed") {
  Hindsight hindsight;
  const Asked first("1", at(0)), again("1", at(hour));
  hindsight.note(first.snapshot, first.forecast);
  hindsight.note(again.snapshot, again.forecast);
  hindsight.ended(gone("1", at(0), at(10), at(20)));
  CHECK(hindsight.calibration(at(2 * hour)).size(ForecastKind::start) == 1);
  for (std::int64_t i = 0; i < 2 * static_cast<std::int64_t>(Hindsight::most); ++i) {
    const std::string id = "j" + std::to_string(i);
    const Asked asked(id, at(i));
    hindsight.note(asked.snapshot, asked.forecast);
    hindsight.ended(gone(id, at(i), at(i + 10), at(i + 20)));
  }
  CHECK(hindsight.calibration(at(2 * hour)).size(ForecastKind::start) == Hindsight::most);
}

}  // namespace schedmate::daemon
