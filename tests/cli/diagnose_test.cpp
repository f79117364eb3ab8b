// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/program.hpp"

namespace schedmate {
namespace {

const std::string failed = "step 1 loss 2\n\x1b]0;title\x07srun: error: Node failure on n3\n";

}  // namespace

TEST_CASE("diagnose tells the class with the line, as text and as JSON") {
  const Scratch here;
  here.write("run.log", failed);
  const Ran text = here.run({"diagnose", "run.log"});
  CHECK(text.status == 0);
  CHECK(text.out.contains("run.log:2  cause"));
  CHECK_FALSE(text.out.contains('\x1b'));
  for (const char* locator : {"scan", "algorithm1", "tail"}) {
    const Ran json = here.run({"diagnose", "run.log", "--locate", locator, "--json"});
    const auto document = nlohmann::json::parse(json.out);
    CHECK(document["class"] == "infrastructure");
    CHECK(document["root_line"] == 2);
    CHECK(document["nodes"].empty());
  }
}

TEST_CASE("diagnose shows no secret of the log") {
  const Scratch here;
  here.write("run.log", "RuntimeError: login failed, api_key=sk-abcdefghij0123456789klmnopqrst\n");
  CHECK_FALSE(here.run({"diagnose", "run.log"}).out.contains("sk-abc"));
}

TEST_CASE("diagnose names a node of the allocation when the scheduler agrees") {
  const Scratch here;
  here.write("run.log", failed);
  here.write("job.json", R"({"state": "NODE_FAIL", "nodes": ["n3", "n4"]})");
  const Ran ran = here.run({"diagnose", "run.log", "--job", "job.json", "--json"});
  const auto document = nlohmann::json::parse(ran.out);
  CHECK(document["nodes"] == nlohmann::json::array({"n3"}));
  CHECK(document["recommendation"] == "restart_elsewhere");
}

TEST_CASE("what diagnose cannot do has the exit code of its kind") {
  const Scratch here;
  here.write("run.log", failed);
  here.write("job.json", "no JSON");
  CHECK(here.run({"diagnose"}).status == 2);
  CHECK(here.run({"diagnose", "run.log", "--locate", "odd"}).status == 2);
  CHECK(here.run({"diagnose", "absent.log"}).status == 3);
  CHECK(here.run({"diagnose", "run.log", "--job", "job.json"}).status == 3);
}

}  // namespace schedmate
