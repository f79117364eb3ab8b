// SPDX-License-Identifier: Apache-2.0
#include "reader/answers/program.hpp"

#include <doctest/doctest.h>

#include "tests/support/need.hpp"

namespace schedmate::reader {

TEST_CASE("flags of the reader") {
  const auto read = [](std::vector<const char*> words) { return read_command_line(words); };
  const CommandLine given = testing::need(
      read({"--socket", "/run/r.sock", "--config", "r.toml", "--set", "reader.uid_min=500"}));
  CHECK(given.task == CommandLine::Task::serve);
  CHECK(given.socket == "/run/r.sock");
  CHECK(given.sources.file == "r.toml");
  CHECK(given.sources.given.at(0).value == "500");
  CHECK(testing::need(read({"--work"})).task == CommandLine::Task::work);
  CHECK(testing::need(read({"--help"})).task == CommandLine::Task::help);
  CHECK(read({"--sockt", "/run/r.sock"}).error().message.contains("nearest: --socket"));
  CHECK(read({"--socket"}).error().message == "--socket needs a value");
  CHECK(read({"--set", "nonsense"}).error().message.contains("KEY=VALUE"));
}

}  // namespace schedmate::reader
