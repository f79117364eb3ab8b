// SPDX-License-Identifier: Apache-2.0
/// The contract of connectors on the Ray at RAY_URL, with the queue in RAY_WORK (ray_connector.sh
/// makes both), attempts started as RAY_STARTS says.
#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "ray_live/cluster.hpp"
#include "settings/clock.hpp"
#include "settings/environment.hpp"
#include "tests/support/connector_suite.hpp"
#include "tests/support/need.hpp"

namespace schedmate::ray_live {
namespace {

using testing::need;
constexpr Connector::Deadline long_enough{60'000}, short_time{2000};

struct Ray {
  settings::Environment environment = settings::read_environment(::environ);
  Clock clock = settings::machine_clock();
  std::string work = environment.variable("RAY_WORK");
  std::unique_ptr<RayCluster> cluster;

  Ray() {
    Options options;
    options.log_folder = work;
    options.start.by_driver = environment.variable("RAY_STARTS") == "driver";
    cluster =
        std::make_unique<RayCluster>(Head(llm::parse_url(environment.variable("RAY_URL")).value(),
                                          environment.variable("RAY_TOKEN"), clock),
                                     need(Ledger::open(work + "/ray.sqlite", "suite")), options);
  }
  std::string submit(int gpus, const std::string& command) const {
    ActionCall call{.kind = ActionKind::submit};
    call.text = R"({"command": ")" + command + R"(", "gpus": )" + std::to_string(gpus) + "}";
    call.user = "ann";
    const CallReply reply = cluster->call(call, long_enough);
    INFO(reply.text);
    REQUIRE(reply.outcome == CallOutcome::done);
    return reply.job;
  }
  [[nodiscard]] SeenJob job(const std::string& id) const {
    return need(cluster->job(id, long_enough)).value();
  }
  /// Until no more of these run.
  void wait_for_end(const std::vector<std::string>& ids) const {
    for (int i = 0; i < 600; ++i) {
      const Listing listing = need(cluster->list(SimTime::min(), long_enough));
      const bool runs = std::ranges::any_of(listing.jobs, [&](const SeenJob& each) {
        return each.phase == JobPhase::running && std::ranges::find(ids, each.id) != ids.end();
      });
      if (!runs) return;
      clock.sleep(std::chrono::milliseconds(200));
    }
    FAIL("it does not end");
  }
};

TEST_CASE("contract" * doctest::test_suite("up")) {
  Ray ray;
  const std::string over = ray.work + "/over";
  std::vector<std::string> ids;
  for (const int gpus : {1, 2, 4, 3})
    ids.push_back(ray.submit(gpus, "echo began; while [ ! -e " + over + " ]; do sleep 0.1; done"));
  testing::check_connector({.connector = *ray.cluster,
                            .let_end =
                                [&] {
                                  std::ofstream(over) << "now\n";
                                  ray.wait_for_end(ids);
                                },
                            .within = long_enough});
  const SeenJob ended = ray.job(ids.at(2));  // it took all of its node
  CHECK(ended.end_state == EndState::completed);
  std::ifstream log(ended.output);
  const std::string text(std::istreambuf_iterator<char>(log), {});
  CAPTURE(text);
  CHECK(text.contains("\nbegan\n"));
}

/// A last job runs on for the head's restart; all others are gone.
TEST_CASE("left" * doctest::test_suite("left")) {
  Ray ray;
  for (const SeenJob& each : need(ray.cluster->list(SimTime::min(), long_enough)).jobs) {
    // Ray may count GPUs of what has just ended, and this process has not seen it end.
    if (each.phase == JobPhase::ended || each.id.starts_with("ray-others-")) continue;
    ActionCall cancel{.kind = ActionKind::cancel, .job = each.id, .submitted = each.submitted};
    cancel.restarts = each.restarts;
    const CallReply reply = ray.cluster->call(cancel, long_enough);
    INFO(reply.text);
    CHECK(reply.outcome == CallOutcome::done);
  }
  namespace fs = std::filesystem;
  for (const auto& process : fs::directory_iterator("/proc")) {
    std::ifstream file(process.path() / "environ");
    const std::string text(std::istreambuf_iterator<char>(file), {});
    CAPTURE(process.path().string());
    CHECK(!text.contains("SCHEDMATE_RUN=sm-suite-"));
  }
  const std::string id = ray.submit(1, "sleep 600");
  ActionCall start{.kind = ActionKind::start, .job = id, .submitted = ray.job(id).submitted};
  start.nodes = {{"w1", {2}}};
  CallReply reply = ray.cluster->call(start, long_enough);
  // Ray may count GPUs of what has just ended; to a new process they are others'.
  for (int i = 0; i < 100 && reply.text.contains("to others"); ++i) {
    ray.clock.sleep(std::chrono::milliseconds(200));
    reply = ray.cluster->call(start, long_enough);
  }
  INFO(reply.text);
  CHECK(reply.outcome == CallOutcome::done);
}

TEST_CASE("unanswered" * doctest::test_suite("down")) {
  Ray ray;
  testing::check_unanswered(*ray.cluster, short_time);
}

TEST_CASE("again" * doctest::test_suite("again")) {
  Ray ray;
  const auto jobs = need(ray.cluster->list(SimTime::min(), long_enough)).jobs;
  REQUIRE(!jobs.empty());
  const auto last = std::ranges::find_if(
      jobs.rbegin(), jobs.rend(), [](const SeenJob& each) { return !each.id.starts_with("ray-"); });
  REQUIRE(last != jobs.rend());
  CHECK(last->end_state == EndState::node_fail);
}

}  // namespace
}  // namespace schedmate::ray_live
