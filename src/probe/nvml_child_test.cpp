// SPDX-License-Identifier: Apache-2.0
#include "probe/nvml_child.hpp"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>

#include <string>

namespace schedmate::probe {
namespace {

/// Has read once; its process is then ended by `signal`, and surely dead.
NvmlChild struck_by(int signal) {
  NvmlChild child(FAKE_NVML_FOLDER "/numbered.so", std::chrono::seconds(20));
  const auto first = child.read(false);
  REQUIRE(first.reading.gpus.size() == 2);
  const auto number = static_cast<pid_t>(std::stoi(first.reading.driver));
  REQUIRE(::kill(number, signal) == 0);
  siginfo_t how{};
  REQUIRE(::waitid(P_PID, static_cast<id_t>(number), &how, WEXITED | WNOWAIT) == 0);
  return child;
}

}  // namespace

TEST_CASE("a library that crashed between two readings is told at the next, and asked again") {
  NvmlChild child = struck_by(SIGSEGV);
  const auto after = child.read(false);
  CHECK(after.reading.error == "the library crashed (signal 11)");
  CHECK(after.reading.gpus.empty());
  CHECK(child.read(false).reading.gpus.size() == 2);
}

}  // namespace schedmate::probe
