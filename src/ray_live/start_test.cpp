// SPDX-License-Identifier: Apache-2.0
#include "ray_live/start.hpp"

#include <doctest/doctest.h>

#include "ray_live/zip.hpp"

namespace schedmate::ray_live {
namespace {

RayNode made_node(const char* id, const char* ip, const char* label, double gpus = 4) {
  RayNode made{.id = id, .ip = ip, .label = label, .is_alive = true, .why = {}};
  made.resources = {{"GPU", gpus}, {"node:" + made.ip, 1}};
  return made;
}

RayJob failed(const char* type, const char* message, std::optional<std::int32_t> code = {}) {
  RayJob made;
  made.status = RayStatus::failed;
  made.error_type = type;
  made.message = message;
  made.exit_code = code;
  return made;
}

TEST_CASE("a node is called by its label, else its address, else a part of its id") {
  const auto named = name_nodes(
      {made_node("aaaaaaaaaa", "10.0.0.1", "w1"), made_node("bbbbbbbbbb", "10.0.0.2", ""),
       made_node("cccccccccc", "10.0.0.3", ""), made_node("dddddddddd", "10.0.0.3", ""),
       made_node("eeeeeeeeee", "10.0.0.4", "", 0)},
      "2.60.0", {});
  REQUIRE(named.size() == 4);
  CHECK(named[0].name == "10.0.0.2");
  CHECK(named[1].name == "node-cccccccc");
  CHECK(named[2].name == "node-dddddddd");
  CHECK(named[3].name == "w1");
  CHECK(named[3].pin == "id=aaaaaaaaaa");
  CHECK(named[3].gpus == 4);
}

TEST_CASE("of two nodes with one name the one that is alive counts, wherever it stands") {
  auto dead = made_node("a", "10.0.0.1", "w1");
  dead.is_alive = false;
  const auto alive = made_node("b", "10.0.0.1", "w1");
  CHECK(name_nodes({dead, alive}, "2.60.0", {}).at(0).ray.id == "b");
  CHECK(name_nodes({alive, dead}, "2.60.0", {}).at(0).ray.id == "b");
}

TEST_CASE("without selectors a resource that only this node has pins it") {
  auto own = made_node("a", "10.0.0.1", "w1");
  own.resources["sm_node_w1"] = 1000;
  const auto pin = [](const std::vector<RayNode>& nodes, const char* version,
                      const StartOptions& options) {
    return name_nodes(nodes, version, options).at(0).pin;
  };
  CHECK(pin({own}, "2.41.0", {}) == "resource=sm_node_w1");
  CHECK(pin({made_node("a", "10.0.0.1", "w1")}, "2.41.0", {}) == "resource=node:10.0.0.1");
  const std::vector<RayNode> twins = {made_node("a", "10.0.0.1", "w1"),
                                      made_node("b", "10.0.0.1", "w2")};
  CHECK(pin(twins, "2.41.0", {}).empty());
  CHECK(pin({own}, "2.60.0", {.pin = "sm_node_{name}"}) == "resource=sm_node_w1");
  CHECK(pin({own}, "2.41.0", {.pin = "selector"}) == "id=a");
}

TEST_CASE("a submission says where, with how many GPUs, and what runs") {
  Entry entry;
  entry.seen.id = "7";
  entry.seen.command = "python train.py --name 'a b'";
  entry.seen.dir = "/nets/ann/my net";
  entry.seen.limit = Seconds(60);
  entry.where = {{"w1", {1, 3}}};
  entry.counted = true;
  entry.start_by = at(99);
  const auto nodes = name_nodes({made_node("a", "10.0.0.1", "w1")}, "2.60.0", {});
  const std::string body = submission_of(entry, "sm-x-7-1", nodes, {});
  for (const char* part :
       {R"("submission_id":"sm-x-7-1")", R"("entrypoint_num_gpus":2.0)",
        R"("entrypoint_label_selector":{"ray.io/node-id":"a"})", R"(gcs://_ray_pkg_sm_x_7_1.zip)",
        "exec python3 schedmate_launch.py --run sm-x-7-1", "--start-by 99", "--limit 60",
        "--dir '/nets/ann/my net'", "--node w1=1,3",
        R"(-- 'python train.py --name '\\''a b'\\'''")"}) {
    CAPTURE(body);
    CHECK_MESSAGE(body.contains(part), part);
  }
  entry.counted = false;  // it shares
  CHECK(!submission_of(entry, "x", nodes, {}).contains("entrypoint_num_gpus"));
}

TEST_CASE("how an attempt ended decides whether anything of it ran") {
  using enum AttemptEnd;
  CHECK(end_of(failed("JOB_ENTRYPOINT_COMMAND_ERROR", "", 1)) == ended);
  CHECK(end_of(failed("JOB_ENTRYPOINT_COMMAND_ERROR", "", -9)) == ended);
  CHECK(end_of(failed("", "failed", 75)) == ended);
  CHECK(end_of(failed("", "...\nschedmate: too late: x", 75)) == never_ran);
  CHECK(end_of(failed("JOB_SUPERVISOR_ACTOR_START_TIMEOUT", "")) == never_ran);
  CHECK(end_of(failed("RUNTIME_ENV_SETUP_FAILURE", "")) == never_ran);
  CHECK(end_of(failed("JOB_SUPERVISOR_ACTOR_START_FAILURE", "Failed to start supervisor actor")) ==
        never_ran);
  // Ray says so too of one that it has lost sight of while it ran.
  CHECK(end_of(failed("JOB_SUPERVISOR_ACTOR_START_FAILURE", "Unexpected error occurred")) == lost);
  CHECK(end_of(failed("JOB_SUPERVISOR_ACTOR_DIED", "Job supervisor actor died")) == lost);
  CHECK(end_of(failed("", "Job supervisor actor failed to start within 900 seconds")) == never_ran);
  CHECK(end_of(failed("", "Job supervisor actor died")) == lost);
  RayJob job;
  job.status = RayStatus::stopped;
  CHECK(end_of(job) == stopped);
  job.status = RayStatus::succeeded;
  CHECK(end_of(job) == ended);
}

TEST_CASE("a package is a ZIP with the program at its top") {
  const std::string zip = zip_of({{"a.txt", "hello"}, {"b", ""}});
  CHECK(zip.starts_with("PK\x03\x04"));
  CHECK(zip.contains("a.txthello"));
  CHECK(zip.contains("\x86\xa6\x10\x36"));  // CRC-32 of "hello", 0x3610a686
  CHECK(zip.substr(zip.size() - 22, 4) == "PK\x05\x06");
  CHECK(zip.size() == 2 * (30 + 46) + 2 * (5 + 1) + 5 + 22);
  CHECK(package_of_launcher().contains("PR_SET_CHILD_SUBREAPER"));
}

}  // namespace
}  // namespace schedmate::ray_live
