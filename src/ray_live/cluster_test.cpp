// SPDX-License-Identifier: Apache-2.0
#include "ray_live/cluster.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <memory>

#include "tests/support/connector_suite.hpp"
#include "tests/support/raw_server.hpp"
#include "tests/support/ray_house.hpp"

namespace schedmate::ray_live {
namespace {

using testing::FakeRay;
using testing::FakeRayJob;
using testing::need;
using testing::RayFault;
using testing::RayHouse;
using testing::soon;

TEST_CASE("a Ray keeps what every connector promises, by whatever its jobs are started") {
  for (const auto& [version, by_driver] :
       {std::pair{"2.60.0", false}, {"2.41.0", false}, {"2.60.0", true}, {"2.41.0", true}}) {
    RayHouse house({.version = version, .token = "secret"});
    house.options.start.by_driver = by_driver;
    house.restart();
    for (const int gpus : {1, 2, 4, 3}) house.submit(gpus);
    testing::check_connector(
        {.connector = *house.cluster, .let_end = [&] { house.ray.end_all(0); }});
  }
}

TEST_CASE("a head that is away, slow, wrong or talks without end is an error in time") {
  constexpr Connector::Deadline short_time{300};
  RayHouse house;
  house.restart("http://127.0.0.1:1");
  testing::check_unanswered(*house.cluster, short_time);
  house.restart();
  for (const RayFault& fault :
       {RayFault{RayFault::Kind::hang}, RayFault{RayFault::Kind::status},
        RayFault{RayFault::Kind::text, "{}"}, RayFault{RayFault::Kind::text, "not JSON"}}) {
    house.ray.fault("GET /api/version", fault);
    testing::check_unanswered(*house.cluster, short_time);
    house.ray.mend();
  }
  const testing::RawServer flood(
      {.first = "HTTP/1.1 200 OK\r\n\r\n[", .again = std::string(1U << 20U, '[')});
  house.restart(flood.url().substr(0, flood.url().size() - 3));
  testing::check_unanswered(*house.cluster, soon);
}

TEST_CASE("a wrong token is told as such") {
  RayHouse house({.token = "another"});
  const auto listing = house.cluster->list(at(0), soon);
  REQUIRE(!listing);
  CHECK(listing.error().message.contains("cluster.ray.token_file"));
}

TEST_CASE("a part of a reading is no reading") {
  RayHouse house;
  for (const char* part : {"GET /api/v0/nodes", "GET /api/cluster_status", "GET /api/jobs/"}) {
    for (const RayFault& fault :
         {RayFault{RayFault::Kind::status}, RayFault{RayFault::Kind::text, R"({"data": 7)"}}) {
      house.ray.fault(part, fault);
      CHECK(!house.cluster->list(at(0), soon));
      house.ray.mend();
    }
  }
  CHECK(house.cluster->list(at(0), soon));
}

TEST_CASE("a job is not given to Ray before it starts, and then on the decided GPUs") {
  RayHouse house;
  const std::string id = house.submit(2, "", R"(, "dir": "/nets/ann", "name": "net")");
  CHECK(house.ray.jobs().empty());
  CHECK(house.start(id, {{"w2", {1, 3}}}).outcome == CallOutcome::done);
  const FakeRayJob job = house.newest();
  CHECK(job.id == "sm-abc-1-1");
  CHECK(job.entrypoint.contains("--node w2=1,3"));
  CHECK(job.gpus == 2);
}

TEST_CASE("each attempt has an id of its own, also after a restart of the daemon") {
  RayHouse house;
  const std::string id = house.started();
  CHECK(house.cluster->call(house.of(ActionKind::evict, id), soon).outcome == CallOutcome::done);
  house.restart();
  CHECK(house.job(id).restarts == 1);
  CHECK(house.start(id, {{"w3", {0}}}).outcome == CallOutcome::done);
  CHECK(house.newest().id == "sm-abc-1-2");
}

TEST_CASE("a start whose answer is lost is unknown, holds its GPUs, and shows once it is seen") {
  RayHouse house;
  const std::string id = house.submit();
  (void)house.submit();
  house.ray.fault("POST /api/jobs/", {RayFault::Kind::done_lost}, 1);
  house.ray.fault("GET /api/jobs/sm-abc-1-1", {RayFault::Kind::status});
  CHECK(house.start(id, {{"w1", {0}}}).outcome == CallOutcome::unknown);
  house.ray.mend();
  CHECK(house.job(id).phase == JobPhase::running);
  CHECK(house.ray.jobs().size() == 1);
}

TEST_CASE("a start that never came to Ray goes back to the queue, once it would come too late") {
  RayHouse house;
  const std::string id = house.submit(), other = house.submit();
  house.ray.fault("POST /api/jobs/", {RayFault::Kind::hang}, 1);
  CHECK(house.start(id, {{"w1", {0}}}).outcome == CallOutcome::unknown);
  CHECK(house.job(id).phase == JobPhase::queued);
  CHECK(house.start(id, {{"w1", {0}}}).outcome == CallOutcome::refused);  // it is open
  CHECK(house.start(other, {{"w1", {0}}}).outcome == CallOutcome::refused);
  house.restart();  // it is known to the next process, too
  CHECK(house.start(other, {{"w1", {0}}}).outcome == CallOutcome::refused);
  house.now_s += 400;
  CHECK(house.job(id).restarts == 0);
  CHECK(house.start(id, {{"w1", {0}}}).outcome == CallOutcome::done);
  CHECK(house.newest().id == "sm-abc-1-2");
}

TEST_CASE("an error that came after the job was taken is a start; one that came before is not") {
  RayHouse house;
  const std::string id = house.submit();
  house.ray.fault("POST /api/jobs/", {RayFault::Kind::status}, 1);
  const CallReply refused = house.start(id, {{"w1", {0}}});
  CHECK(refused.outcome == CallOutcome::refused);
  CHECK(refused.text.contains("RuntimeError: no"));
  CHECK(house.job(id).phase == JobPhase::queued);
  house.ray.fault("POST /api/jobs/", {RayFault::Kind::done_500}, 1);
  CHECK(house.start(id, {{"w1", {0}}}).outcome == CallOutcome::done);
  CHECK(house.job(id).phase == JobPhase::running);
}

TEST_CASE("a job that Ray could not begin waits again, and fails in the end") {
  RayHouse house;
  const std::string id = house.started();
  for (int i = 0; i < 5; ++i) {
    house.ray.end(house.newest().id, {"FAILED", {}, "RUNTIME_ENV_SETUP_FAILURE"});
    const SeenJob seen = house.job(id);
    CHECK(seen.phase == JobPhase::queued);
    CHECK(seen.restarts == i + 1);
    house.now_s += 1;
    CHECK(house.start(id, {{"w1", {0}}}).outcome == CallOutcome::done);
  }
  house.ray.end(house.newest().id, {"FAILED", {}, "RUNTIME_ENV_SETUP_FAILURE"});
  CHECK(house.job(id).end_state == EndState::failed);
}

TEST_CASE("a job that Ray leaves pending goes back to the queue, and its attempt is stopped") {
  RayHouse house({.runs_at_once = false});
  const std::string id = house.started();
  house.now_s += 200;
  CHECK(house.job(id).phase == JobPhase::running);
  house.now_s += 200;
  CHECK(house.job(id).phase == JobPhase::queued);
  CHECK(std::ranges::count(house.ray.asked(), "POST /api/jobs/sm-abc-1-1/stop") == 1);
}

TEST_CASE("how a job ended") {
  struct Row {
    const char* status;
    std::optional<int> code;
    const char* type;
    EndState state;
    int exit_code, exit_signal;
  };
  for (const Row& row : {
           Row{"SUCCEEDED", 0, "", EndState::completed, 0, 0},
           Row{"FAILED", 3, "JOB_ENTRYPOINT_COMMAND_ERROR", EndState::failed, 3, 0},
           Row{"FAILED", -9, "JOB_ENTRYPOINT_COMMAND_ERROR", EndState::failed, 0, 9},
           Row{"FAILED", {}, "JOB_SUPERVISOR_ACTOR_DIED", EndState::node_fail, 0, 0},
           Row{"STOPPED", {}, "", EndState::cancelled, 0, 0},  // somebody's `ray job stop`
       }) {
    RayHouse house;
    const std::string id = house.started();
    house.now_s += 30;
    house.ray.end(house.newest().id, {row.status, row.code, row.type});
    house.now_s += 1;
    const SeenJob seen = house.job(id);
    INFO(std::string(row.status) << row.type);
    CHECK(seen.phase == JobPhase::ended);
    CHECK(seen.end_state == row.state);
    CHECK(seen.exit_code == row.exit_code);
    CHECK(seen.exit_signal == row.exit_signal);
    CHECK(seen.ended == at(house.now_s - 1));
  }
}

TEST_CASE("a limit that was reached is told from a program that ends with the same code") {
  for (const int run_s : {59, 60}) {
    RayHouse house;
    const std::string id = house.submit(1, "", R"(, "limit_s": 60)");
    CHECK(house.start(id, {{"w1", {0}}}).outcome == CallOutcome::done);
    house.now_s += run_s;
    house.ray.end(house.newest().id, {"FAILED", 124});
    CHECK(house.job(id).end_state == (run_s == 60 ? EndState::timeout : EndState::failed));
  }
}

TEST_CASE("a head that was started again has lost what ran; what waited waits on") {
  RayHouse house;
  const std::string id = house.started(), waits = house.submit();
  house.ray.restart();
  house.restart();
  CHECK(house.job(id).end_state == EndState::node_fail);
  CHECK(house.job(waits).phase == JobPhase::queued);
  ActionCall again = house.of(ActionKind::requeue_excluding, id);
  CHECK(house.cluster->call(again, soon).outcome == CallOutcome::done);
  CHECK(house.job(id).restarts == 1);
  CHECK(house.start(id, {{"w1", {0}}}).outcome == CallOutcome::done);
}

TEST_CASE("an attempt that ended well is known by what it has left, whatever Ray forgets") {
  RayHouse house;
  house.options.start.ends = house.folder.path();
  house.restart();
  const std::string well = house.started(), not_noted = house.started({{"w1", {1}}});
  CHECK(house.newest().entrypoint.contains("--ends " + house.folder.path()));
  for (const char* name : {"sm-abc-1-1", "sm-abc-2-2"})  // the last one of another attempt
    std::ofstream(house.folder.path(name)).flush();
  REQUIRE(::symlink("/etc/passwd", house.folder.path("sm-abc-2-1").c_str()) == 0);
  auto without = EndState::node_fail;
  SUBCASE("a head that has begun anew") {
    house.ray.restart();
    house.restart();
  }
  SUBCASE("a record that somebody has deleted") {
    house.ray.forget("sm-abc-1-1");
    house.ray.forget("sm-abc-2-1");
    without = EndState::unknown;
  }
  SUBCASE("what watched it died at its end") {
    for (const char* id : {"sm-abc-1-1", "sm-abc-2-1"})
      house.ray.end(id, {"FAILED", std::nullopt, "JOB_SUPERVISOR_ACTOR_DIED", ""});
  }
  CHECK(house.job(well).end_state == EndState::completed);
  CHECK(house.job(not_noted).end_state == without);
}

TEST_CASE("a record that somebody has deleted leaves an end of which nothing is known") {
  RayHouse house;
  const std::string id = house.started();
  house.ray.forget(house.newest().id);
  const SeenJob seen = house.job(id);
  CHECK(seen.phase == JobPhase::ended);
  CHECK(seen.end_state == EndState::unknown);
}

TEST_CASE("an eviction that was cut off by a crash ends as it was meant") {
  RayHouse house;
  const std::string id = house.started();
  house.ray.fault("GET /api/jobs/sm-abc-1-1", {RayFault::Kind::status});
  CHECK(house.cluster->call(house.of(ActionKind::evict, id), soon).outcome == CallOutcome::unknown);
  house.ray.mend();
  house.restart();
  const SeenJob seen = house.job(id);
  CHECK(seen.phase == JobPhase::queued);
  CHECK(seen.restarts == 1);
}

TEST_CASE("a job that ended just before it was evicted has ended") {
  RayHouse house;
  const std::string id = house.started();
  const ActionCall evict = house.of(ActionKind::evict, id);
  house.ray.end(house.newest().id, {"SUCCEEDED", 0});
  CHECK(house.cluster->call(evict, soon).outcome == CallOutcome::refused);
  CHECK(house.job(id).end_state == EndState::completed);
}

TEST_CASE("jobs share GPUs only where the call says with whom, and Ray does not count them twice") {
  RayHouse house;
  const std::string first = house.started(), second = house.submit(), third = house.submit();
  CHECK(house.start(second, {{"w1", {0}}}).outcome == CallOutcome::refused);
  ActionCall beside = house.of(ActionKind::start, second, {{"w1", {0}}});
  beside.shared_with = third;  // it waits
  CHECK(house.cluster->call(beside, soon).outcome == CallOutcome::refused);
  beside.shared_with = first;
  CHECK(house.cluster->call(beside, soon).outcome == CallOutcome::done);
  CHECK(house.newest().gpus == 0);
  ActionCall crowd = house.of(ActionKind::start, third, {{"w1", {0}}});
  crowd.shared_with = first;
  CHECK(house.cluster->call(crowd, soon).outcome == CallOutcome::refused);
}

TEST_CASE("several nodes: the first has the program that starts the others") {
  RayHouse house;
  const std::string id = house.submit(3);
  CHECK(house.start(id, {{"w1", {0, 1}}, {"w2", {3}}}).outcome == CallOutcome::done);
  const FakeRayJob job = house.newest();
  CHECK(job.entrypoint.contains("--node w1=0,1 --node w2=3 --pin id="));
  CHECK(job.entrypoint.contains("--counted GPU"));
  CHECK(job.gpus == 0);
}

TEST_CASE("what others gave to Ray is shown, left alone, and its GPUs are not used") {
  RayHouse house;
  house.ray.submit_foreign("raysubmit_1", "w2", 1);
  const Listing listing = need(house.cluster->list(at(0), soon));
  REQUIRE(listing.jobs.size() == 2);
  const SeenJob theirs = house.job("ray-raysubmit_1");
  CHECK(theirs.phase == JobPhase::running);
  CHECK(theirs.gpus == 0);
  CHECK(house.job("ray-others-w2").nodes == std::vector<NodeGpus>{{"w2", {0, 1, 2, 3}}});
  const std::string id = house.submit();
  CHECK(house.start(id, {{"w2", {3}}}).outcome == CallOutcome::refused);
  ActionCall cancel{.kind = ActionKind::cancel, .job = theirs.id, .submitted = theirs.submitted};
  CHECK(house.cluster->call(cancel, soon).outcome == CallOutcome::refused);
  house.ray.end("raysubmit_1", {"SUCCEEDED", 0});
  CHECK(house.start(id, {{"w2", {3}}}).outcome == CallOutcome::done);
}

TEST_CASE("GPUs of our own that Ray counts late are nobody else's") {
  RayHouse house;
  const std::string id = house.started();
  CHECK(need(house.cluster->list(at(0), soon)).jobs.size() == 1);
  house.ray.submit_foreign("late", "w1", 1);  // stands for what Ray has not taken off yet
  house.ray.end("late", {"SUCCEEDED", 0});
  house.ray.end_all(0);
  house.ray.submit_foreign("still counted", "w1", 1);
  CHECK(house.job(id).phase == JobPhase::ended);
  CHECK(!need(house.cluster->job("ray-others-w1", soon)));
  house.now_s += 20;
  CHECK(need(house.cluster->job("ray-others-w1", soon)));
}

TEST_CASE("a node that is lost is down, and starts no job") {
  RayHouse house;
  house.ray.kill_node("w1");
  const Listing listing = need(house.cluster->list(at(0), soon));
  CHECK(listing.nodes.at(0).state == NodeState::down);
  CHECK(listing.nodes.at(0).reason == "health check failed");
  CHECK(house.start(house.submit(), {{"w1", {0}}}).outcome == CallOutcome::refused);
}

TEST_CASE("queue, holds, orders, notes and drains outlive the daemon") {
  RayHouse house;
  const std::string id = house.submit(2, "key", R"(, "name": "net", "output": "/tmp/o")");
  ActionCall hold = house.of(ActionKind::hold, id);
  hold.text = "schedmate:a/1";
  CHECK(house.cluster->call(hold, soon).outcome == CallOutcome::done);
  ActionCall drain{.kind = ActionKind::drain_node, .nodes = {{"w3", {}}}};
  drain.text = "schedmate:a/2 Xid 79";
  CHECK(house.cluster->call(drain, soon).outcome == CallOutcome::done);
  const Listing before = need(house.cluster->list(at(0), soon));
  house.restart();
  const Listing after = need(house.cluster->list(at(0), soon));
  CHECK(after.jobs == before.jobs);
  CHECK(after.nodes == before.nodes);
  CHECK(after.jobs.at(0).held);
  CHECK(after.nodes.at(2).state == NodeState::drained);
  CHECK(need(house.cluster->find_submission("key", soon)) == id);
  CHECK(house.submit(2, "key") == id);  // asked twice
}

TEST_CASE("a job that was requeued is kept off the nodes that were named") {
  RayHouse house;
  const std::string id = house.started();
  house.ray.end(house.newest().id, {"FAILED", 1});
  ActionCall again = house.of(ActionKind::requeue_excluding, id, {{"w1", {}}});
  CHECK(house.cluster->call(again, soon).outcome == CallOutcome::done);
  CHECK(house.start(id, {{"w1", {0}}}).outcome == CallOutcome::refused);
  CHECK(house.start(id, {{"w2", {0}}}).outcome == CallOutcome::done);
}

TEST_CASE("a log is fetched while its job runs, and the rest at its end") {
  for (const char* version : {"2.60.0", "2.41.0"}) {
    RayHouse house({.version = version});
    const std::string id = house.started();
    const auto text = [&] {
      std::ifstream file(house.job(id).output);
      return std::string(std::istreambuf_iterator<char>(file), {});
    };
    house.ray.log("sm-abc-1-1", "one\ntwo\nthr");
    need(house.cluster->list(at(0), soon));
    CHECK(text() == "one\ntwo\n");
    house.restart();
    house.ray.log("sm-abc-1-1", "one\ntwo\nthree\nfour");
    need(house.cluster->list(at(0), soon));
    CHECK(text() == "one\ntwo\nthree\n");
    house.ray.end("sm-abc-1-1", {"SUCCEEDED", 0});
    need(house.cluster->list(at(0), soon));
    CHECK(text() == "one\ntwo\nthree\nfour");
  }
}

TEST_CASE("a log that hangs costs a reading no more than its own deadline") {
  RayHouse house;
  house.started();
  house.ray.fault("GET /api/v0/logs/file", {RayFault::Kind::hang});
  CHECK(house.cluster->list(at(0), std::chrono::minutes(2)));
}

TEST_CASE("records of attempts that are over do not pile up in Ray") {
  RayHouse house;
  for (int i = 0; i < 103; ++i) {
    house.started();
    house.ray.end_all(0);
  }
  for (int i = 0; i < 3; ++i) need(house.cluster->list(at(0), soon));
  CHECK(house.ray.jobs().size() <= 101);
  CHECK(need(house.cluster->list(at(0), soon)).jobs.size() == 103);  // the ledger knows them
}

}  // namespace
}  // namespace schedmate::ray_live
