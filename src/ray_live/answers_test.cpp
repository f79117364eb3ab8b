// SPDX-License-Identifier: Apache-2.0
#include "ray_live/answers.hpp"

#include <doctest/doctest.h>

#include "tests/support/need.hpp"

namespace schedmate::ray_live {
namespace {

using testing::need;

/// As Ray 2.60 has answered.
constexpr const char* failed_job = R"({"type":"SUBMISSION","job_id":null,"submission_id":"sm-1",
 "driver_info":null,"status":"FAILED","entrypoint":"exec x",
 "message":"Job entrypoint command failed","error_type":"JOB_ENTRYPOINT_COMMAND_ERROR",
 "start_time":1795258491308,"end_time":1795258496178,"metadata":{"job_name":"toy","sm_user":"ann"},
 "runtime_env":{"working_dir":"gcs://x.zip"},
 "driver_agent_http_address":"http://127.0.0.1:26022",
 "driver_node_id":"ab","driver_exit_code":-9})";

TEST_CASE("a job of Ray, with whole seconds") {
  const RayJob job = need(read_job(failed_job));
  CHECK(job.id == "sm-1");
  CHECK(job.status == RayStatus::failed);
  CHECK(job.is_over());
  CHECK(job.submitted == at(1795258491));
  CHECK(job.ended == at(1795258496));
  CHECK(job.exit_code == -9);
  CHECK(job.name + job.user + job.node == "toyannab");
  CHECK(need(read_jobs("[" + std::string(failed_job) + "]")).size() == 1);
}

TEST_CASE("a driver that nobody submitted is known by its job") {
  const auto job = need(
      read_job(R"({"type":"DRIVER","job_id":"02000000","submission_id":null,"status":"RUNNING"})"));
  CHECK(job.id == "02000000");
  CHECK(job.submitted == at(0));
  CHECK(!job.exit_code);
}

TEST_CASE("what is no answer of Ray is an error, and names it") {
  for (const char* body : {"", "{", "[]", "7", R"({"status":"RUNNING"})",
                           R"({"submission_id":"a","status":"DANCING"})"}) {
    INFO(std::string(body));
    const auto job = read_job(body);
    REQUIRE(!job);
    CHECK(job.error().code == ErrorCode::invalid);
  }
  CHECK(!read_jobs("{}"));
  CHECK(!read_jobs(R"([{"status":"RUNNING"}])"));
  CHECK(!read_version("{}"));
  CHECK(!read_nodes(R"({"data":{}})"));
  CHECK(!read_nodes(R"({"data":{"result":{"total":2,"result":[{"node_id":"a"}]}}})"));  // a page
  CHECK(
      !read_usage(R"({"data":{"clusterStatus":{"loadMetricsReport":{"usageByNode":7}}}})", "GPU"));
  CHECK(!read_logs("{}"));
}

TEST_CASE("numbers that no job has are left out") {
  const auto job = need(read_job(
      R"({"submission_id":"a","status":"FAILED","start_time":-5,"end_time":1e300,
          "driver_exit_code":70000})"));
  CHECK(job.submitted == at(0));
  CHECK(!job.ended);
  CHECK(!job.exit_code);
}

TEST_CASE("half a pair of UTF-16 in a log does not make a listing unreadable") {
  const auto message = [](const std::string& escaped) {
    return need(
               read_job(R"({"submission_id":"a","status":"RUNNING","message":")" + escaped + "\"}"))
        .message;
  };
  CHECK(message(R"(a\ud83db)") ==
        "a\xef\xbf\xbd"
        "b");
  CHECK(message(R"(\udc00)") == "\xef\xbf\xbd");
  CHECK(message(R"(\ud83d\ude00)") == "\xf0\x9f\x98\x80");  // a whole one
  CHECK(message(R"(\\ud83d)") == "\\ud83d");                // no escape
}

TEST_CASE("a long message is cut between characters") {
  std::string text;
  while (text.size() < 6000) text += "\xc3\xa9";
  const auto job =
      need(read_job(R"({"submission_id":"a","status":"RUNNING","message":"x)" + text + "\"}"));
  CHECK(job.message.size() == 4095);
}

TEST_CASE("nodes with their state and resources") {
  const auto nodes = need(read_nodes(R"({"data":{"result":{"total":1,"result":[
    {"node_id":"a1","node_ip":"10.0.0.1","is_head_node":false,"state":"DEAD",
     "state_message":"health check failed","resources_total":{"GPU":4.0,"CPU":8},
     "labels":{"sm-node":"w1"}}]}}})"));
  REQUIRE(nodes.size() == 1);
  CHECK(!nodes[0].is_alive);
  CHECK(nodes[0].label == "w1");
  CHECK(nodes[0].why == "health check failed");
  CHECK(nodes[0].resources.at("GPU") == 4);
}

TEST_CASE("usage is found under names in camel case") {
  const auto used = need(read_usage(
      R"({"data":{"clusterStatus":{"loadMetricsReport":{"usageByNode":{"a":{"smGpuX":[1.5,4.0]},
          "b":{"CPU":[1,2]}}}}}})",
      "sm_gpu_x"));
  CHECK(used.size() == 1);
  CHECK(used.at("a") == 1.5);
  CHECK(need(read_usage(R"({"data":{"clusterStatus":null}})", "GPU")).empty());
  CHECK(camel_case("GPU") == "GPU");
  CHECK(camel_case("sm_node_w1") == "smNodeW1");
}

TEST_CASE("selectors came with 2.49") {
  CHECK(has_selectors("2.60.0"));
  CHECK(has_selectors("3.0.0"));
  CHECK(has_selectors("2.49.0rc1"));
  CHECK(!has_selectors("2.41.0"));
  CHECK(!has_selectors("2"));
}

}  // namespace
}  // namespace schedmate::ray_live
