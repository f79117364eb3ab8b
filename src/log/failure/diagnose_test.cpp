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

TEST_CASE("a step that srun gives up since it lost a node was not cancelled by anybody") {
  const std::string cancelled =
      "slurmstepd: error: *** STEP 5.0 ON n0 CANCELLED AT 2026-11-28T02:21:44 ***\n"
      "srun: error: n0: task 0: Terminated\n";
  for (const char* const lost :
       {"srun: error: step_launch_notify_io_failure: aborting, io error with slurmstepd on node "
        "1\n",
        "srun: error: Aborting, io error and missing step on node 1\n"}) {
    const auto made = DiagnosedLog().diagnose(
        lost +
        ("srun: Job step aborted: Waiting up to 32 seconds for job step to finish.\n" + cancelled));
    CHECK(made.verdict == FailureClass::infrastructure);
    CHECK(made.component == Component::node);
    CHECK(made.recommendation == Recommendation::test_first);
  }
  CHECK(DiagnosedLog().diagnose(cancelled).verdict == FailureClass::other);
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

TEST_CASE("a hang is named with what was last seen") {
  DiagnosedLog log;
  const std::string steps =
      "step 11 loss 2.5\nstep 12 loss 2.4\n"
      "[rank0]:[E1 ProcessGroupNCCL.cpp:607] [Rank 0] Watchdog caught collective operation "
      "timeout: "
      "WorkNCCL(SeqNum=9) ran for 600013 milliseconds before timing out.\n";
  const auto made = log.diagnose(steps);
  CHECK(made.reason.starts_with("hung: a collective timed out"));
  CHECK(made.reason.ends_with("last seen: line 2: step 12 loss 2.4"));
}

TEST_CASE("an end from outside after an unusual silence is a hang") {
  const auto log_with_end = [](int hour) {
    std::string text;
    for (int i = 0; i < 9; ++i)
      text +=
          "2024-03-01 10:0" + std::to_string(i) + ":00 step " + std::to_string(i) + " loss 2.5\n";
    return text + "slurmstepd: error: *** JOB 7 ON n1 CANCELLED AT 2024-03-01T" +
           std::to_string(hour) + ":09:00 DUE TO TIME LIMIT ***\n";
  };
  DiagnosedLog log;
  const auto hangs = log.diagnose(log_with_end(12));
  CHECK(hangs.verdict == FailureClass::other);
  CHECK(hangs.reason ==
        "hung: nothing was printed for 121 minutes, then the scheduler ended the job at its time "
        "limit; last seen: line 9: 2024-03-01 10:08:00 step 8 loss 2.5");
  CHECK(log.diagnose(log_with_end(10)).reason == "the scheduler ended the job at its time limit");
}

TEST_CASE("a progress bar without time stamps is no silence") {
  std::string text;
  for (int i = 0; i < 8; ++i)
    text += "2024-03-01 10:0" + std::to_string(i) + ":00 loading part " + std::to_string(i) + "\n";
  for (int i = 1; i < 1800; ++i)
    text += "\r" + std::to_string(i / 18) + "%|##  | " + std::to_string(i) +
            "/1800 [10:00<20:00, 4.00s/it, loss=2.5]";
  text +=
      "\nslurmstepd: error: *** JOB 7 ON n1 CANCELLED AT 2024-03-01T12:07:00 DUE TO TIME LIMIT "
      "***\n";
  DiagnosedLog log;
  CHECK(log.diagnose(text).reason == "the scheduler ended the job at its time limit");
}

TEST_CASE("what a reason cites of the log is cleaned, too") {
  DiagnosedLog log;
  log.input.clean = [](std::string_view text) {
    std::string made(text);
    for (std::size_t at = 0; (at = made.find("hunter2")) != std::string::npos;)
      made.replace(at, 7, "[redacted]");
    return made;
  };
  const auto made = log.diagnose(
      "step 12 loss 2.4 hunter2\n"
      "[rank0]:[E1 ProcessGroupNCCL.cpp:607] [Rank 0] Watchdog caught collective operation "
      "timeout: WorkNCCL(SeqNum=9) ran for 600013 milliseconds before timing out.\n");
  CHECK(made.reason.ends_with("last seen: line 1: step 12 loss 2.4 [redacted]"));
}

}  // namespace schedmate::failure
