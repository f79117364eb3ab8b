// SPDX-License-Identifier: Apache-2.0
#include "ray_live/driver.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "tests/support/fixed_clock.hpp"
#include "tests/support/ray_house.hpp"

namespace schedmate::ray_live {
namespace {

using testing::FakeRay;
using testing::FakeRayJob;
using testing::need;
using testing::RayFault;
using testing::RayHouse;
using testing::soon;

struct Driven : RayHouse {
  explicit Driven(FakeRay::Options made = {}) : RayHouse(std::move(made)) {
    options.start.by_driver = true;
    restart();
  }
  [[nodiscard]] std::ptrdiff_t drivers() const {
    return std::ranges::count_if(ray.jobs(),
                                 [](const FakeRayJob& job) { return job.id.contains("-driver-"); });
  }
};

TEST_CASE("the driver is begun with the first job, and not before") {
  Driven house;
  (void)need(house.cluster->list(at(0), soon));
  CHECK(house.ray.jobs().empty());
  const std::string id = house.submit(2);
  CHECK(house.drivers() == 1);
  REQUIRE(house.start(id, {{"w2", {1, 3}}}).outcome == CallOutcome::done);
  CHECK(house.drivers() == 1);
  const auto jobs = house.ray.jobs();
  const auto found = std::ranges::find(jobs, true, &FakeRayJob::by_driver);
  REQUIRE(found != jobs.end());
  const FakeRayJob& job = *found;
  CHECK(job.id == "sm-abc-1-1");
  for (const char* part : {"--run sm-abc-1-1", "--node w2=1,3", "--pin id=", "--counted GPU"})
    CHECK_MESSAGE(job.entrypoint.contains(part), part);
  CHECK(house.job(id).phase == JobPhase::running);
  // It is no job of somebody else's.
  CHECK(need(house.cluster->list(at(0), soon)).jobs.size() == 1);
}

TEST_CASE("what the driver has started outlives it, and nothing is said until there is another") {
  Driven house;
  const std::string id = house.started();
  house.ray.end_driver();
  const auto listing = house.cluster->list(at(0), soon);
  REQUIRE(!listing);
  CHECK(listing.error().code == ErrorCode::unavailable);
  CHECK(listing.error().message.contains("is being started"));
  CHECK(house.drivers() == 2);
  CHECK(house.job(id).phase == JobPhase::running);
  CHECK(house.job(id).restarts == 0);
  house.ray.end_all(0);
  CHECK(house.job(id).end_state == EndState::completed);
  // Nothing that needs one is there: none is begun.
  house.ray.end_driver();
  CHECK(house.job(id).end_state == EndState::completed);
  CHECK(house.drivers() == 2);
}

TEST_CASE("an attempt that the next driver does not know is lost") {
  Driven house;
  const std::string id = house.started();
  house.ray.end_driver();
  house.ray.forget("sm-abc-1-1");  // its node's agent has died meanwhile
  CHECK(!house.cluster->list(at(0), soon));
  CHECK(house.job(id).end_state == EndState::node_fail);
}

TEST_CASE("a driver that does not answer, or lies, is no reading, and says what to do") {
  Driven house;
  (void)house.started();
  for (const RayFault& fault :
       {RayFault{RayFault::Kind::status}, RayFault{RayFault::Kind::text, "[7"}}) {
    for (const char* request : {"driver GET /api/version", "driver GET /api/jobs/"}) {
      house.ray.fault(request, fault);
      const auto listing = house.cluster->list(at(0), soon);
      REQUIRE(!listing);
      CHECK(listing.error().message.contains("`ray job stop sm-abc-driver-1`"));
      house.ray.mend();
    }
  }
  CHECK(house.cluster->list(at(0), soon));
}

TEST_CASE("a driver that cannot run says why, and is begun again a minute later") {
  Driven house;
  (void)house.started();
  house.ray.end("sm-abc-driver-1",
                {.status = "FAILED", .exit_code = 1, .message = "no module ray"});
  const auto listing = house.cluster->list(at(0), soon);
  REQUIRE(!listing);
  CHECK(listing.error().message.contains("no module ray"));
  CHECK(house.drivers() == 1);
  house.now_s += 61;
  CHECK(!house.cluster->list(at(0), soon));
  CHECK(house.drivers() == 2);
  CHECK(house.cluster->list(at(0), soon));
}

TEST_CASE("attempts of others in a driver's list are not taken for ours") {
  Driven house;
  (void)house.started();
  house.ray.fault("driver GET /api/jobs/",
                  {RayFault::Kind::text,
                   R"([{"submission_id": "theirs", "status": "RUNNING"},
                       {"submission_id": "sm-abc-1-1", "status": "RUNNING"}])"},
                  1);
  CHECK(need(house.cluster->list(at(0), soon)).jobs.size() == 1);
}

TEST_CASE("a driver that cannot be begun refuses the start, and the job waits") {
  Driven house;
  house.ray.fault("PUT /api/packages", {RayFault::Kind::status});
  const std::string id = house.submit();
  const CallReply reply = house.start(id, {{"w1", {0}}});
  CHECK(reply.outcome == CallOutcome::refused);
  CHECK(reply.text.contains("status 500"));
  house.ray.mend();
  CHECK(house.job(id).phase == JobPhase::queued);
  CHECK(house.start(id, {{"w1", {0}}}).outcome == CallOutcome::done);
}

TEST_CASE("a driver that is being started is waited for as long as there is time") {
  Driven house({.runs_at_once = false});
  house.time = testing::sleepless_clock();
  house.restart();
  const std::string id = house.submit();
  constexpr Connector::Deadline many_looks{30'000};
  const CallReply reply =
      house.cluster->call(house.of(ActionKind::start, id, {{"w1", {0}}}), many_looks);
  CHECK(reply.outcome == CallOutcome::refused);
  CHECK(reply.text.contains("has not said yet where it answers"));
  CHECK(house.drivers() == 1);  // one is enough
}

TEST_CASE("a start whose answer the driver owes is unknown, and shows once it is seen") {
  Driven house;
  const std::string first = house.started();
  const std::string id = house.submit();
  const ActionCall call = house.of(ActionKind::start, id, {{"w2", {0}}});
  house.ray.fault("driver POST /api/jobs/", {RayFault::Kind::done_lost});
  house.ray.fault("driver GET /api/jobs/sm-", {RayFault::Kind::status});
  CHECK(house.cluster->call(call, Connector::Deadline(500)).outcome == CallOutcome::unknown);
  house.ray.mend();
  CHECK(house.job(id).phase == JobPhase::running);
  CHECK(house.job(first).phase == JobPhase::running);
}

TEST_CASE("the setting may change while jobs run: who has started one, stops it") {
  for (const bool by_driver : {false, true}) {
    Driven house;
    house.options.start.by_driver = by_driver;
    house.restart();
    const std::string first = house.started({{"w1", {0}}});
    house.options.start.by_driver = !by_driver;
    house.restart();
    const std::string second = house.started({{"w2", {0}}});
    for (const std::string& id : {first, second}) {
      CHECK(house.job(id).phase == JobPhase::running);
      const CallReply reply = house.cluster->call(house.of(ActionKind::evict, id), soon);
      INFO(reply.text);
      CHECK(reply.outcome == CallOutcome::done);
      CHECK(house.job(id).phase == JobPhase::queued);
    }
    CHECK(std::ranges::count(house.ray.jobs(), "STOPPED", &FakeRayJob::status) == 2);
  }
}

TEST_CASE("an eviction goes through the driver") {
  Driven house;
  const std::string id = house.started();
  CHECK(house.cluster->call(house.of(ActionKind::evict, id), soon).outcome == CallOutcome::done);
  CHECK(house.job(id).phase == JobPhase::queued);
  CHECK(house.job(id).restarts == 1);
  CHECK(std::ranges::count(house.ray.asked(), "driver POST /api/jobs/sm-abc-1-1/stop") == 1);
}

}  // namespace
}  // namespace schedmate::ray_live
