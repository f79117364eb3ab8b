// SPDX-License-Identifier: Apache-2.0
#include "daemon/forecasts.hpp"

#include <doctest/doctest.h>

#include <schedmate/scheduler.hpp>

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

TEST_CASE("forecasts take a fortieth of a core, those of a minute and more at most half") {
  using std::chrono::milliseconds, std::chrono::seconds;
  CHECK(forecast_period(milliseconds(3)) == seconds(1));
  CHECK(forecast_period(milliseconds(100)) == seconds(4));
  CHECK(forecast_period(seconds(3)) == seconds(60));
  CHECK(forecast_period(seconds(100)) == seconds(200));
}

}  // namespace schedmate::daemon
