// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/cli/program.hpp"

namespace schedmate {
namespace {

const std::string failed = "step 1 loss 2\n\x1b]0;title\x07srun: error: Node failure on n3\n";

}  // namespace

TEST_CASE("diagnose prints the class with the line, as text and as JSON") {
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
  CHECK_MESSAGE(text.out.contains("\n  kernel agrees: n12: "), text.out);
  CHECK(text.out.contains("  missing: nvml ("));
  CHECK(text.out.contains("nodes           n12"));
  CHECK(text.out.contains("restart_elsewhere"));
  const auto document =
      nlohmann::json::parse(here.run({"diagnose", "run.log", "--nvml", "--set",
                                      ("nvml.library=" FAKE_NVML_FOLDER "/faulty.so"), "--json"})
                                .out);
  CHECK(document["witness"][2]["agrees"] == true);
  CHECK(document["nvml"][0]["gpus"][1]["ecc_uncorrected_volatile"] == 3);
  CHECK(document["nodes"].empty());  // no allocation was given
}

TEST_CASE("what --nvml read on a node can be kept and given later") {
  const Scratch here;
  here.write("run.log", "RuntimeError: CUDA error: uncorrectable ECC error encountered\n");
  const Ran first = here.run({"diagnose", "run.log", "--nvml", "--set",
                              ("nvml.library=" FAKE_NVML_FOLDER "/lost.so"), "--json"});
  here.write("kept.json", first.out);
  const Ran again = here.run({"diagnose", "run.log", "--nvml-from", "kept.json", "--json"});
  CHECK(again.out == first.out);
  const Ran absent = here.run({"diagnose", "run.log", "--nvml", "--set", "nvml.library=none.so"});
  CHECK(absent.status == 0);
  CHECK(absent.out.contains("nvml (no GPU of the job could be queried; none.so"));
  CHECK(here.run({"diagnose", "run.log", "--nvml-from", "run.log"}).status == 3);
  CHECK(here.run({"diagnose", "run.log", "--kernel-log", "n1=absent"}).status == 3);
}

namespace {

/// A history in which jobs failed by the same error of a file system.
struct Past {
  Scratch here;
  Past() {
    here.write("run.log", "step 40 loss 2\nOSError: [Errno 5] Input/output error: '/data/x'\n");
  }
  void failed(const std::string& id, const std::string& user, int ended_s,
              const char* nodes) const {
    here.write("job.json", "{\"state\": \"FAILED\", \"end\": " + std::to_string(ended_s) +
                               ", \"nodes\": " + nodes + "}");
    REQUIRE(here.run({"history", "add", id, "--user", user, "--command", "python train.py " + id})
                .status == 0);
    const Ran ran = here.run({"history", "finish", id, "--state", "failed", "--duration-s", "60",
                              "--log", "run.log", "--job", "job.json"});
    REQUIRE_MESSAGE(ran.status == 0, ran.err);
  }
  [[nodiscard]] nlohmann::json diagnose(const std::vector<std::string>& more = {}) const {
    here.write("now.json", R"({"job_id": 99, "user": "ann", "state": "FAILED", "end": 1714564800,
                               "nodes": ["n1", "n12"]})");
    std::vector<std::string> words{"diagnose", "run.log", "--job", "now.json", "--json"};
    words.insert(words.end(), more.begin(), more.end());
    const Ran ran = here.run(words);
    REQUIRE_MESSAGE(ran.status == 0, ran.err);
    return nlohmann::json::parse(ran.out);
  }
};

}  // namespace

TEST_CASE("the same failure of earlier jobs is reported: how often, whose, always on which node") {
  const Past past;
  CHECK(past.diagnose()["seen"].is_null());
  past.failed("1", "ann", 1714400000, R"(["n12", "n3"])");
  past.failed("2", "bob", 1714400500, R"(["n12"])");
  CHECK(past.diagnose()["seen"]["nodes"].empty());  // two are too few
  past.failed("3", "bob", 1714401000, R"(["n12", "n1"])");
  const auto seen = past.diagnose()["seen"];
  CHECK(seen["jobs"] == 3);
  CHECK(seen["users"] == 2);
  CHECK(seen["first_s"] == 1714400000);
  CHECK(seen["last_s"] == 1714401000);
  CHECK(seen["nodes"] == nlohmann::json::array({"n12"}));
  CHECK(seen["job_ids"].size() == 3);  // the state directory is the caller's
  const Ran text = past.here.run({"diagnose", "run.log", "--job", "now.json"});
  CHECK_MESSAGE(text.out.contains("3 earlier jobs of 2 users, always with n12"), text.out);
  REQUIRE(past.here.run({"history", "forget", "2"}).status == 0);
  CHECK(past.diagnose()["seen"]["jobs"] == 2);
}

TEST_CASE("a job of the history is diagnosed by its id, with the nodes it had") {
  const Past past;
  past.failed("1", "ann", 1714400000, R"(["n12", "n3"])");
  past.failed("2", "ann", 1714400500, R"(["n12"])");
  const Ran ran = past.here.run({"diagnose", "2", "--json"});
  REQUIRE_MESSAGE(ran.status == 0, ran.err);
  const auto document = nlohmann::json::parse(ran.out);
  CHECK(document["root_line"] == 2);
  CHECK(document["witness"][0]["says"] == "state FAILED");
  CHECK(document["seen"]["jobs"] == 1);
  CHECK(document["seen"]["job_ids"] == nlohmann::json::array({"1"}));
}

TEST_CASE("the same cause at the same step twice stops the restart; caps are settings") {
  const Past past;
  CHECK(past.diagnose()["recommendation"] == "restart_same");
  past.failed("1", "ann", 1714400000, R"(["n12"])");
  const auto stopped = past.diagnose();
  CHECK(stopped["recommendation"] == "do_not_restart");
  CHECK(stopped["advice"].get<std::string>().starts_with("the same cause at the same step"));
  CHECK(past.diagnose({"--set", "caps.same_cause_same_step=3"})["recommendation"] ==
        "restart_same");
  CHECK(past.diagnose({"--set", "caps.same_cause_same_step=3", "--set",
                       "caps.restarts_per_job=1"})["recommendation"] == "do_not_restart");
}

TEST_CASE("a history that is damaged takes nothing from a diagnosis, and none is made") {
  const Scratch here;
  here.write("run.log", failed);
  here.write("job.json", R"({"nodes": ["n3"]})");
  CHECK(here.run({"diagnose", "run.log", "--job", "job.json", "--state-dir", "state"}).status == 0);
  CHECK_FALSE(std::filesystem::exists(here.path("state")));
  std::filesystem::create_directory(here.path("state"));
  here.write("state/history.sqlite", std::string(5000, 'x'));
  const Ran ran = here.run({"diagnose", "run.log", "--job", "job.json", "--state-dir", "state"});
  CHECK(ran.status == 0);
  CHECK(ran.err.contains("the history was not queried"));
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
