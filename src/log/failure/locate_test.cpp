// SPDX-License-Identifier: Apache-2.0
#include "log/failure/locate.hpp"

#include <doctest/doctest.h>

#include <fstream>

#include "tests/support/scratch.hpp"

namespace schedmate::failure {
namespace {

/// Logs in a folder, looked through by one locator.
class Logs {
 public:
  void add(const std::string& text) {
    paths_.push_back(folder_.path("log" + std::to_string(paths_.size())));
    std::ofstream(paths_.back()) << text;
  }
  Located locate(std::string_view name = "scan") const {
    auto classify = make_rules_classifier({});
    REQUIRE(classify);
    LineKinds kinds(*std::move(classify));
    const auto row = find_locator(name);
    REQUIRE(row);
    auto located = (*row)->locate({paths_, kinds});
    REQUIRE_MESSAGE(located, located.error().message);
    return *std::move(located);
  }
  std::uint64_t root(std::string_view name = "scan") const {
    const auto located = locate(name);
    return located.root ? located.root->line : 0;
  }

 private:
  testing::Scratch folder_;
  std::vector<std::string> paths_;
};

std::uint64_t root_of(const std::string& text) {
  Logs logs;
  logs.add(text);
  return logs.root();
}

std::string repeated(int times, const std::string& text) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

const std::string progress = "epoch 1 step 10 loss 2.5\n";
const std::string trace =
    "Traceback (most recent call last):\n  File \"/job/train.py\", line 3, in f\n    g()\n";

}  // namespace

TEST_CASE("the exception line is the cause, its traceback's head where the failure begins") {
  Logs logs;
  logs.add(progress + trace + "ValueError: bad\n");
  const auto located = logs.locate();
  REQUIRE(located.root);
  CHECK(located.root->line == 5);
  CHECK(located.root->begins == 2);
}

TEST_CASE("an exception of any name counts inside a traceback, code lines do not") {
  CHECK(root_of(trace + "mylib.NoCheckpoint: none left\n") == 4);
  const std::string code =
      "  File \"a.py\", line 3, in f\n    raise RuntimeError(\"CUDA out of memory\")\n";
  CHECK(root_of("Traceback (most recent call last):\n" + code + "MyError: x\n") == 4);
}

TEST_CASE("of chained exceptions the first is the cause, unless it was only a failed lookup") {
  const std::string handles =
      "\nDuring handling of the above exception, another exception occurred:\n\n";
  CHECK(root_of(trace + "OSError: disk\n" + handles + trace + "RuntimeError: save\n") == 4);
  CHECK(root_of(trace + "KeyError: 'x'\n" + handles + trace + "ValueError: no x\n") == 11);
}

TEST_CASE("a worker's own traceback names the cause, not the one that passes it on") {
  const std::string worker =
      "RuntimeError: Caught ValueError in DataLoader worker process 0.\n"
      "Original Traceback (most recent call last):\n"
      "  File \"/job/data.py\", line 9, in get\n    x\nValueError: bad\n";
  Logs logs;
  logs.add(trace + worker);
  const auto located = logs.locate();
  REQUIRE(located.root);
  CHECK(located.root->line == 8);
  CHECK(located.root->begins == 1);
}

TEST_CASE("what a worker process raised counts where it was raised, not where it is passed on") {
  const std::string quoted = "multiprocessing.pool.RemoteTraceback: \n\"\"\"\n" + trace +
                             "TypeError: indices must be integers\n\"\"\"\n";
  const std::string follows =
      "\nThe above exception was the direct cause of the following exception:\n\n";
  const std::string passed = trace + "TypeError: indices must be integers\n";
  CHECK(root_of(quoted + follows + passed) == 6);
  // In one process the longer traceback is the outer one.
  CHECK(root_of(passed + follows + passed) == 11);
}

TEST_CASE("a reading that failed before the argument was refused is no cause") {
  const std::string handles =
      "\nDuring handling of the above exception, another exception occurred:\n\n";
  CHECK(root_of(trace + "binascii.Error: Incorrect padding\n" + handles + trace +
                "ValueError: no such configuration: a.json\n") == 11);
}

TEST_CASE("threads that find their queue closed followed the failure") {
  const std::string thread =
      "Exception in thread Thread-1:\n" + trace + "OSError: handle is closed\n";
  CHECK(root_of(thread + trace + "RuntimeError: dimensions do not match\n") == 9);
}

TEST_CASE("where nothing is a cause, the exception counts and not the head of its traceback") {
  CHECK(root_of(progress + trace +
                "RuntimeError: DataLoader worker (pid 4) is killed by signal: "
                "Terminated. \n") == 5);
}

TEST_CASE("an exception that introduces another traceback is not the cause") {
  CHECK(root_of(trace + "RuntimeError: failed to import:\n\n" + trace + "ImportError: x\n") == 9);
}

TEST_CASE("launchers and surviving ranks do not win") {
  CHECK(root_of(trace + "TypeError: x\nWARNING Sending process 7 closing signal SIGTERM\n"
                        "torch.distributed.elastic.multiprocessing.errors.ChildFailedError:\n"
                        "  exitcode  : 1 (pid: 8)\n") == 4);
  CHECK(root_of("[E ProcessGroupNCCL.cpp:455] Some NCCL operations have failed or timed out.\n"
                "RuntimeError: NCCL error: remote process exited, NCCL version 2.14\n"
                "Last error:\nNET/IB : Got completion from peer 10.0.0.1<1> with error 12\n") == 4);
  CHECK(root_of("  exitcode  : -9 (pid: 8)\n") == 1);
}

TEST_CASE("what training went on after is no failure") {
  CHECK(root_of(trace + "ValueError: x\n" + repeated(10, progress)) == 0);
  CHECK(root_of(repeated(10, progress)) == 0);
}

TEST_CASE("ignored exceptions and logging errors are no failure") {
  CHECK(root_of("Exception ignored in: <function f>\n" + trace + "TypeError: x\n") == 0);
  CHECK(root_of("--- Logging error ---\n" + trace + "TypeError: x\n" + trace + "OSError: y\n") ==
        9);
}

TEST_CASE("of several runs in one file the last one counts") {
  const std::string start = "nohup: ignoring input\nreading the configuration file\n";
  const std::string first = start + trace + "ValueError: one\n";
  CHECK(root_of(first + start + trace + "TypeError: two\n") == 12);
  // The last run has not come to anything yet.
  CHECK(root_of(first + start) == 6);
  const std::string bare = "reading the configuration file\nbuilding a network of this size\n";
  CHECK(root_of(bare + repeated(5, "plain words\n") + trace + "ValueError: one\n" +
                "\n\n\n\n\n\n\n" + bare + trace + "TypeError: two\n") == 24);
  CHECK(root_of(bare + trace + "ValueError: one\n" + bare + trace + "TypeError: two\n") == 12);
}

TEST_CASE("what a good run has, too, is not the cause") {
  Logs logs;
  logs.add("Error: cannot open display\n");
  CHECK(logs.root() == 1);
}

TEST_CASE("among several logs the earliest time stamp wins") {
  Logs logs;
  logs.add("2024-01-01 10:00:05 [rank0]: RuntimeError: later\n");
  logs.add("2024-01-01 10:00:01 [rank1]: ValueError: earlier\n");
  const auto located = logs.locate();
  REQUIRE(located.root);
  CHECK(located.root->file == 1);
}

TEST_CASE("a flood of failure lines costs bounded memory and keeps both ends") {
  std::string text = "CUDA error: unknown error\n";
  for (std::size_t i = 0; i < 20'000; ++i)
    text += "RuntimeError: " + std::string(1 + i % 97, 'a') + std::string(1 + i % 89, 'b') + "\n";
  Logs logs;
  logs.add(text + "srun: error: Node failure on n3\n");
  const auto located = logs.locate();
  REQUIRE(located.root);
  CHECK(located.root->line == 20'002);
  CHECK(located.others.size() <= 4096);
}

TEST_CASE(
    "algorithm1 finds the first failing chunk where failures are monotone, tail the last lines") {
  Logs logs;
  logs.add(repeated(600, "plain words\n") + repeated(90, "RuntimeError: x\n"));
  CHECK(logs.root("algorithm1") == 601);
  CHECK(logs.root("tail") == 601);
  CHECK(logs.root("scan") == 601);
}

TEST_CASE("algorithm1 keeps the published quirks: one error followed by quiet is missed") {
  Logs logs;
  logs.add("RuntimeError: x\n" + repeated(200, "plain words\n"));
  CHECK(logs.root("algorithm1") == 0);
  CHECK(logs.root("scan") == 1);
  Logs long_quiet;
  long_quiet.add("RuntimeError: x\n" + repeated(600, "plain words\n"));
  CHECK(long_quiet.root("tail") == 0);
}

TEST_CASE("an empty log has no failure, a missing one is an error, a wrong locator named") {
  CHECK(root_of("") == 0);
  auto classify = make_rules_classifier({});
  LineKinds kinds(*std::move(classify));
  const std::vector<std::string> missing{"/nonexistent/log"};
  for (const LocatorRow& row : locator_rows()) CHECK_FALSE(row.locate({missing, kinds}));
  const auto wrong = find_locator("scn");
  REQUIRE_FALSE(wrong);
  CHECK(wrong.error().message.find("nearest: scan") != std::string::npos);
}

}  // namespace schedmate::failure
