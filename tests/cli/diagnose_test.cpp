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

TEST_CASE("a kernel log and the GPUs of this machine are witnesses") {
  const Scratch here;
  here.write("run.log", "step 1 loss 2\nRuntimeError: CUDA error: uncorrectable ECC error\n");
  here.write("job.json", R"({"job_id": 17, "state": "FAILED", "nodes": ["n11", "n12"],
                             "start": "2024-05-01T11:00:00", "end": "2024-05-01T12:00:10"})");
  const std::string kernel = SCHEDMATE_SOURCE_DIR "/tests/fixtures/kernel_log/dmesg.txt";
  const Ran text =
      here.run({"diagnose", "run.log", "--job", "job.json", "--kernel-log", "n12=" + kernel});
  CHECK_MESSAGE(text.out.contains("witness         kernel agrees: n12: "), text.out);
  CHECK(text.out.contains("witness         nvml is missing"));
  CHECK(text.out.contains("nodes           n12"));
  CHECK(text.out.contains("restart_elsewhere"));
  const auto document =
      nlohmann::json::parse(here.run({"diagnose", "run.log", "--nvml", "--set",
                                      "nvml.library=" FAKE_NVML_FOLDER "/faulty.so", "--json"})
                                .out);
  CHECK(document["witness"][2]["agrees"] == true);
  CHECK(document["nvml"][0]["gpus"][1]["ecc_uncorrected_volatile"] == 3);
  CHECK(document["nodes"].empty());  // no allocation was given
}

TEST_CASE("what --nvml read on a node can be kept and given later") {
  const Scratch here;
  here.write("run.log", "RuntimeError: CUDA error: uncorrectable ECC error encountered\n");
  const Ran first = here.run({"diagnose", "run.log", "--nvml", "--set",
                              "nvml.library=" FAKE_NVML_FOLDER "/lost.so", "--json"});
  here.write("kept.json", first.out);
  const Ran again = here.run({"diagnose", "run.log", "--nvml-from", "kept.json", "--json"});
  CHECK(again.out == first.out);
  const Ran absent = here.run({"diagnose", "run.log", "--nvml", "--set", "nvml.library=none.so"});
  CHECK(absent.status == 0);
  CHECK(absent.out.contains("nvml is missing: no GPU of the job could be asked; none.so"));
  CHECK(here.run({"diagnose", "run.log", "--nvml-from", "run.log"}).status == 3);
  CHECK(here.run({"diagnose", "run.log", "--kernel-log", "n1=absent"}).status == 3);
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
