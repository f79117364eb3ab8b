// SPDX-License-Identifier: Apache-2.0
#include "log/lines/clean.hpp"

#include <doctest/doctest.h>

namespace schedmate::lines {
namespace {

struct CleanCase {
  std::string_view line, body;
  int rank;
  char level;
};

std::string cleaned(std::string_view raw) {
  std::string scratch;
  return std::string(without_escapes(raw, scratch));
}

}  // namespace

TEST_CASE("colours, window titles and control characters leave the text") {
  CHECK(cleaned("\x1b[1;31merror\x1b[0m: 3") == "error: 3");
  CHECK(cleaned("\x1b]0;title\aloss 1") == "loss 1");
  CHECK(cleaned("\x1b]8;;http://x\x1b\\link") == "link");
  CHECK(cleaned(std::string_view("a\0b\x01"
                                 "c\x7f",
                                 6)) == "abc");
  CHECK(cleaned("tab\tstays") == "tab\tstays");
  CHECK(cleaned("cut off \x1b[1;3").substr(0, 8) == "cut off ");
  CHECK(cleaned("\x1b") == "");
}

TEST_CASE("text without escapes is not copied") {
  const std::string_view raw = "loss 0.5";
  std::string scratch;
  CHECK(without_escapes(raw, scratch).data() == raw.data());
}

TEST_CASE("a bar drawn over itself is cut into its states") {
  const auto states = states_of("1/3\r2/3\r\r  \r3/3");
  REQUIRE(states.size() == 3);
  CHECK(states[2] == "3/3");
  CHECK(cleaned("1/3\b\b\b2/3") == "1/3\r2/3");
  CHECK(cleaned("[==>.....]  loss 1\b\b\b\b\b\b\b\b\b\b\b\b\b\b 3/9 \r") == "[==> 3/9 ]  loss 1\r");
  CHECK(cleaned("ab\b\b\b\bc") == "ab\rc");
}

TEST_CASE("prefixes of loggers and launchers are distinguished from what was said") {
  for (const CleanCase& each :
       {CleanCase{"[2021-03-04 12:00:00,250] [INFO] [engine.py:12:log] step 3", "step 3", -1, 'I'},
        {"2021-03-04 12:00:00 INFO train.py:12 | step 3", "train.py:12 | step 3", -1, 'I'},
        {"INFO:root:step 3", "step 3", -1, 'I'},
        {"WARNING:trainer.loop:step 3", "step 3", -1, 'W'},
        {"[rank3]: step 3", "step 3", 3, 0},
        {"[default5]:step 3", "step 3", 5, 0},
        {"[1,4]<stdout>:step 3", "step 3", 4, 0},
        {"12: step 3", "step 3", 12, 0},
        {"03/26 16:34:30 - mmengine - INFO - step 3", "step 3", -1, 'I'},
        {"(RayTrainWorker pid=12, ip=10.0.0.1) step 3", "step 3", -1, 0},
        {"(trainer:486) INFO: step 3", "step 3", -1, 'I'},
        {"2024-01-01T00:00:00.000Z stdout F [rank1]: step 3", "stdout F [rank1]: step 3", -1, 0},
        {"I0605 01:19:05.620946 27501 solver.cpp:237] step 3", "step 3", -1, 'I'},
        {"DLL 2023-07-28 14:31:56.297479 - step 3", "step 3", -1, 0}}) {
    const PrefixedLine line = read_prefixes(each.line);
    CHECK_MESSAGE(line.body == each.body, each.line);
    CHECK_MESSAGE(line.rank == each.rank, each.line);
    CHECK_MESSAGE(line.level == each.level, each.line);
  }
}

TEST_CASE("what is said first is no prefix") {
  for (const std::string_view line :
       {"step 3", "[3] train-mlogloss:1.06", "(3) x", "Epoch: [0][1/2]", "loss: 3", "-1.5 x",
        "[Epoch 3] loss 2", "error rate 0.5"})
    CHECK_MESSAGE(read_prefixes(line).body == line, line);
}

TEST_CASE("prefixes nest") {
  const PrefixedLine line = read_prefixes("3: [rank3]: 2021-03-04 12:00:00 | INFO | step 3");
  CHECK(line.body == "step 3");
  CHECK(line.rank == 3);
  CHECK(line.time.has_value());
}

TEST_CASE("a line of prefixes only has an empty body and is no trouble") {
  CHECK(read_prefixes("[2021-03-04 12:00:00] [INFO]").body.empty());
  CHECK(read_prefixes("").body.empty());
  CHECK(read_prefixes("[").body == "[");
}

TEST_CASE("the name of a host before a rank or a stamp is a prefix, a key is none") {
  CHECK(read_prefixes("localhost: step 3").body == "step 3");
  CHECK(read_prefixes("192.168.205.202: [rank8]:[W326 02:11:03.07 x.cpp:3] careful").rank == 8);
  CHECK(read_prefixes("node-12: 2026-01-01 10:00:00 step 3").time);
  CHECK(read_prefixes("loss: [0.5, 0.6]").body == "loss: [0.5, 0.6]");
  CHECK(read_prefixes("gpu0: 0.5").body == "gpu0: 0.5");
}
}  // namespace schedmate::lines
