// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <string>

#include "tests/tidy/rules.hpp"
#include "tests/tidy/written_tree.hpp"

namespace schedmate::tidy {
namespace {

std::size_t found_in(const std::string& path, const std::string& line) {
  return check_verdicts(file(path, "\n" + line + "\n")).size();
}

/// Written in two halves, so that this file does not find itself.
const std::string tmp = std::string("/t") + "mp/", port = "po", a_port = port + "rt = 23000";

}  // namespace

TEST_CASE("a test of the gate reads no clock and does not sleep") {
  for (const std::string code :
       {"std::this_thread::sleep_for(1ms);", "const auto t = std::chrono::steady_clock::now();",
        "::usleep(1000);", "::sleep(1);", "auto now = Clock::now();", "::time(nullptr);"}) {
    CAPTURE(code);
    CHECK(found_in("src/a/a_test.cpp", code) == 1);
    CHECK(found_in("tests/support/a.hpp", code) == 1);
    CHECK(found_in("src/a/a.cpp", code) == 0);
    CHECK(found_in("tests/live/a.cpp", code) == 0);
    CHECK(found_in("src/a/a_test.cpp", code + "  // clock: a slow server") == 0);
    CHECK(found_in("src/a/a_test.cpp", "\"" + code + "\"; // " + code) == 0);
  }
  for (const std::string code : {"time.sleep(0.1)", "begun = time.monotonic()", "at = time.time()",
                                 "datetime.now()", "time.perf_counter_ns()"}) {
    CAPTURE(code);
    CHECK(found_in("tests/a/a_test.py", "x = " + code) == 1);
    CHECK(found_in("tests/a/a_test.py", "# " + code) == 0);
    CHECK(found_in("tests/a/a_test.py", "x = " + code + "  # clock: the pace") == 0);
  }
  for (const std::string code : {"sleep 0.5", "(($SECONDS < 5))", "begin=$(date +%s)"}) {
    CAPTURE(code);
    CHECK(found_in("tests/a/a_test.sh", code) == 1);
  }
  CHECK(found_in("tests/a/a_test.py", "state.time_s = sleeps(3)") == 0);
  CHECK(found_in("tests/a/a_test.sh", "sleeping=1") == 0);
}

TEST_CASE("a test waits for a minute, which a defect alone reaches") {
  CHECK(found_in("src/a/a_test.cpp", "CHECK(answer.wait_for(2s) == ready);") == 1);
  CHECK(found_in("src/a/a_test.cpp", "CHECK(answer.wait_for(testing::patience) == ready);") == 0);
  for (const std::string seconds : {"5", "0.5", "20", "49"}) {
    CAPTURE(seconds);
    CHECK(found_in("tests/a/a_test.py", "each.wait(timeout=" + seconds + ")") == 1);
    CHECK(found_in("tests/a/a_test.py", "door.settimeout(" + seconds + ")") == 1);
  }
  for (const std::string seconds : {"60", "50", "120", "600"}) {
    CAPTURE(seconds);
    CHECK(found_in("tests/a/a_test.py", "each.wait(timeout=" + seconds + ")") == 0);
  }
}

TEST_CASE("a test has ports and folders of its own") {
  CHECK(found_in("tests/a/a_test.py", a_port) == 1);
  CHECK(found_in("tests/a/a_test.sh", port + "rt=18777") == 1);
  CHECK(found_in("tests/a/a_test.sh", "redis-server --" + port + "rt 6400") == 1);
  CHECK(found_in("src/a/a_test.cpp", "options." + a_port + ";") == 1);
  CHECK(found_in("src/a/a_test.cpp", "CHECK(options." + port + "rt == 8642);") == 0);
  CHECK(found_in("tests/a/a_test.py", port + "rt = 0") == 0);
  CHECK(found_in("tests/a/a_test.sh", "echo x > " + tmp + "x") == 1);
  CHECK(found_in("tests/a/a_test.sh", "folder=" + tmp + "a") == 1);
  CHECK(found_in("tests/a/a_test.sh", "folder=$(mktemp -d " + tmp + "a.XXXXXX)") == 0);
  CHECK(found_in("tests/a/a_test.py", "with open(\"" + tmp + "x\") as file:") == 1);
  CHECK(found_in("src/a/a_test.cpp", "std::ofstream out(\"" + tmp + "x\");") == 1);
  CHECK(found_in("src/a/a_test.cpp", "CHECK(job.output == \"" + tmp + "slurm-1.out\");") == 0);
}

}  // namespace schedmate::tidy
