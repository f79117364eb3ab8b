// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <schedmate/diagnosis.hpp>

#include "tests/support/scratch.hpp"

namespace schedmate::failure {
namespace {

class DiagnosedLog {
 public:
  std::string file(const std::string& name, const std::string& text) const {
    std::ofstream(folder_.path(name)) << text;
    return folder_.path(name);
  }
  Diagnosis diagnose(const std::string& log) {
    input.paths = {file("log", log)};
    auto made = schedmate::diagnose(input);
    REQUIRE_MESSAGE(made, made.error().message);
    return *std::move(made);
  }
  void job(const std::string& text) {
    auto read = read_job_file(file("job.json", text));
    REQUIRE_MESSAGE(read, read.error().message);
    input.job = *std::move(read);
  }
  DiagnoseInput input;

 private:
  testing::Scratch folder_;
};

const std::string node_failure = "srun: error: Node failure on n3\n";

}  // namespace

TEST_CASE("a log without a failure is none") {
  const auto made = DiagnosedLog().diagnose("step 1 loss 2\nstep 2 loss 1\nTraining done\n");
  CHECK(made.verdict == FailureClass::none);
  CHECK_FALSE(made.root_line);
  CHECK(made.evidence.empty());
}

TEST_CASE("without a second witness nothing is restarted elsewhere and no node is named") {
  DiagnosedLog one;
  auto made = one.diagnose(node_failure);
  CHECK(made.verdict == FailureClass::infrastructure);
  CHECK(made.component == Component::node);
  CHECK(made.recommendation == Recommendation::test_first);
  CHECK(made.nodes.empty());
  one.job(R"({"job_id": 7, "state": "FAILED", "nodes": ["n3", "n4"]})");
  made = one.diagnose(node_failure);
  CHECK(made.recommendation == Recommendation::test_first);
  CHECK(made.nodes.empty());
}

TEST_CASE("the scheduler's state is a witness; nodes come from the allocation only") {
  DiagnosedLog one;
  one.job(R"({"job_id": 7, "state": "NODE_FAIL", "nodes": ["n3", "n4"]})");
  CHECK(one.diagnose(node_failure).nodes == std::vector<std::string>{"n3"});
  CHECK(one.diagnose(node_failure).recommendation == Recommendation::restart_elsewhere);
  CHECK(one.diagnose("srun: error: Node failure on n33\n").nodes.empty());
  one.job(R"({"state": "NODE_FAIL", "nodes": ["a1"], "ranks": {"0": "a1"}})");
  CHECK(one.diagnose("[rank0]: NVML: GPU is lost\n").nodes == std::vector<std::string>{"a1"});
}

TEST_CASE("a state can show what the log does not show") {
  DiagnosedLog one;
  one.job(R"({"state": "CANCELLED by 100"})");
  const auto made = one.diagnose("step 1 loss 2\n");
  CHECK(made.verdict == FailureClass::other);
  CHECK_FALSE(made.root_line);
}

TEST_CASE("the fingerprint is that of the same failure of another job") {
  const auto print_of = [](const std::string& path, int line, const std::string& text) {
    return DiagnosedLog()
        .diagnose("Traceback (most recent call last):\n  File \"" + path + "\", line " +
                  std::to_string(line) + ", in f\n    g()\n" + text)
        .fingerprint;
  };
  const auto first = print_of("/a/train.py", 3, "ValueError: bad 17\n");
  CHECK(first == print_of("/b/c/train.py", 9, "ValueError: bad 4\n"));
  CHECK(first != print_of("/a/train.py", 3, "ValueError: worse 17\n"));
  CHECK(first.size() == 16);
}

TEST_CASE("what is new since a good run is listed, and what the good run had is not the cause") {
  DiagnosedLog one;
  one.input.good = one.file("good", "Error: cannot open display\nstep 1 loss 2\n");
  const auto made = one.diagnose("Error: cannot open display\nstep 5 loss 1\nodd words\n");
  CHECK(made.verdict == FailureClass::none);
  REQUIRE(made.unseen.size() == 1);
  CHECK(made.unseen[0].line == 3);
}

TEST_CASE("lines of one template are one piece of evidence, with how many there are") {
  std::string noise = "step 1 loss 2\n";
  for (int i = 0; i < 48; ++i)
    noise += "[rank" + std::to_string(i) + "]: ncclRemoteError: remote process exited, peer " +
             std::to_string(i) + "\n";
  const auto made =
      DiagnosedLog().diagnose("step 1 loss 2\nRuntimeError: CUDA error: uncorrectable ECC error\n" +
                              noise + "srun: error: n1: task 3: Killed\n");
  REQUIRE(made.evidence.size() >= 2);
  CHECK(made.evidence[0].line == 2);
  CHECK(made.evidence[0].count == 1);
  std::uint64_t of_noise = 0;
  std::size_t lines = 0;
  for (const LogEvidence& each : made.evidence)
    if (each.text.contains("ncclRemoteError")) of_noise += each.count, ++lines;
  CHECK(of_noise == 48);
  CHECK(lines == 1);
  DiagnosedLog good;
  good.input.good = good.file("good", "step 1 loss 2\n");
  const auto fresh = good.diagnose("odd 1\nodd 2\nodd 3\nstep 7 loss 1\n").unseen;
  REQUIRE(fresh.size() == 1);
  CHECK(fresh[0].count == 3);
}

TEST_CASE("texts of the log are made fit to be shown") {
  DiagnosedLog one;
  one.input.clean = [](std::string_view) { return std::string("clean"); };
  const auto made = one.diagnose("RuntimeError: \x1b]0;title\x07 token\n");
  REQUIRE_FALSE(made.evidence.empty());
  CHECK(made.evidence[0].text == "clean");
}

TEST_CASE("the document has the fields of schedmate.diagnosis.v1") {
  auto document =
      nlohmann::json::parse(diagnosis_json(DiagnosedLog().diagnose("KeyError: \xff\n")));
  CHECK(document["schema"] == "schedmate.diagnosis.v1");
  CHECK(document["class"] == "user_script");
  CHECK(document["component"].is_null());
  CHECK(document["root_line"] == 1);
  CHECK(document["evidence"][0]["role"] == "cause");
  CHECK(document["nodes"].empty());
  CHECK(document["witness"][0]["agrees"].is_null());
}

TEST_CASE("a job file that is none is an error with what is wrong") {
  const DiagnosedLog one;
  for (const char* text :
       {"", "[]", "{\"nodes\": 3}", "{\"nodes\": [\"a b\"]}", "{\"state\": []}",
        "{\"nodes\": [\"a\"], \"ranks\": {\"0\": \"b\"}}", "{\"ranks\": {\"x\": \"a\"}}"}) {
    CAPTURE(text);
    const auto read = read_job_file(one.file("job.json", text));
    REQUIRE_FALSE(read);
    CHECK(read.error().message.find("job.json") != std::string::npos);
  }
}

TEST_CASE("no log, a missing log and a wrong locator are errors") {
  CHECK_FALSE(diagnose({}));
  DiagnoseInput input;
  input.paths = {"/nonexistent/log"};
  CHECK_FALSE(diagnose(input));
  input.locator = "odd";
  CHECK(diagnose(input).error().code == ErrorCode::not_found);
}

}  // namespace schedmate::failure
