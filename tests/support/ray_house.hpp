// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A fake Ray with a connector beside it.

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ray_live/cluster.hpp"
#include "settings/clock.hpp"
#include "tests/support/fake_ray.hpp"
#include "tests/support/need.hpp"
#include "tests/support/scratch.hpp"

namespace schedmate::testing {

inline constexpr Connector::Deadline soon{3000};

/// The connector may be started again.
struct RayHouse {
  std::int64_t now_s = 1'795'714'411;
  Clock time = settings::machine_clock();  ///< of deadlines and pauses
  Scratch folder;
  FakeRay ray;
  ray_live::Options options;
  std::unique_ptr<ray_live::RayCluster> cluster;

  explicit RayHouse(FakeRay::Options made = {}) : ray(with_clock(std::move(made))) {
    options.log_folder = folder.path();
    restart();
  }
  FakeRay::Options with_clock(FakeRay::Options made) {
    made.now_s = [this] { return now_s; };
    return made;
  }
  [[nodiscard]] Clock clock() {
    Clock made = time;
    made.wall = [this] { return at(now_s); };
    return made;
  }
  /// As after kill -9 of the daemon.
  void restart(const std::string& url = "") {
    cluster.reset();
    cluster = std::make_unique<ray_live::RayCluster>(
        ray_live::Head(llm::parse_url(url.empty() ? ray.url() : url).value(), "secret", clock()),
        need(ray_live::Ledger::open(folder.path("ray.sqlite"), "abc")), options);
  }
  std::string submit(int gpus = 1, const std::string& token = "",
                     const std::string& more = "") const {
    ActionCall call{.kind = ActionKind::submit};
    call.text = R"({"command": "train", "gpus": )" + std::to_string(gpus) + more + "}";
    call.user = "ann";
    call.token = token;
    const CallReply reply = cluster->call(call, soon);
    INFO(reply.text);
    REQUIRE(reply.outcome == CallOutcome::done);
    return reply.job;
  }
  [[nodiscard]] SeenJob job(const std::string& id) const {
    return need(cluster->job(id, soon)).value();
  }
  [[nodiscard]] ActionCall of(ActionKind kind, const std::string& id,
                              std::vector<NodeGpus> where = {}) const {
    const SeenJob seen = job(id);
    ActionCall call{.kind = kind, .job = id, .submitted = seen.submitted};
    call.restarts = seen.restarts;
    call.nodes = std::move(where);
    return call;
  }
  [[nodiscard]] CallReply start(const std::string& id, std::vector<NodeGpus> where) const {
    return cluster->call(of(ActionKind::start, id, std::move(where)), soon);
  }
  std::string started(std::vector<NodeGpus> where = {{"w1", {0}}}) const {
    const std::string id = submit(static_cast<int>(where.front().gpus.size()));
    REQUIRE(start(id, std::move(where)).outcome == CallOutcome::done);
    return id;
  }
  [[nodiscard]] FakeRayJob newest() const {
    const auto jobs = ray.jobs();
    REQUIRE(!jobs.empty());
    return jobs.back();
  }
};

}  // namespace schedmate::testing
