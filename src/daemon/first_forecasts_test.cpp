// SPDX-License-Identifier: Apache-2.0
#include "daemon/first_forecasts.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace schedmate::daemon {
namespace {

Forecast::Job waits(std::int64_t early_s, std::int64_t late_s) {
  Forecast::Job job;
  job.start = {at(early_s), at(early_s), at(early_s), at(late_s), at(late_s)};
  return job;
}

/// All of these jobs wait.
Forecast forecast(const std::vector<std::string>& ids, const Forecast::Job& job) {
  Forecast made;
  for (const std::string& id : ids) made.jobs[id] = job;
  return made;
}

SeenJob starts(const std::string& id, std::int64_t when_s) {
  SeenJob job;
  job.id = id;
  job.started = at(when_s);
  return job;
}

}  // namespace

TEST_CASE("a start is held against the first interval that was told, once") {
  FirstForecasts first;
  first.note(
      {.now = at(0), .jobs = {{"1", waits(10, 20)}, {"2", waits(10, 20)}, {"3", waits(10, 20)}}});
  first.note(
      {.now = at(5), .jobs = {{"1", waits(30, 40)}, {"2", waits(30, 40)}, {"3", waits(30, 40)}}});
  first.started(starts("1", 15));
  first.started(starts("1", 15));
  first.started(starts("2", 9));
  first.started(starts("3", 35));
  CHECK(first.counts().inside == 1);
  CHECK(first.counts().before == 1);
  CHECK(first.counts().after == 1);
}

TEST_CASE("a start that nobody expected, or of a job that was gone, counts nowhere") {
  FirstForecasts first;
  first.note(forecast({"1"}, waits(10, 20)));
  first.note(forecast({"2"}, waits(10, 20)));  // an id may come again
  first.started(starts("1", 15));
  first.started(starts("7", 15));
  CHECK(first.counts().inside + first.counts().before + first.counts().after == 0);
}

}  // namespace schedmate::daemon
