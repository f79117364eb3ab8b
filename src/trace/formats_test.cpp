// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>

#include "trace/readers.hpp"

namespace schedmate::trace {

TEST_CASE("a trace is named by format and path") {
  CHECK(read_trace("helios", {}).error().code == ErrorCode::not_found);
  const auto unknown = read_trace("helos:x.csv", {});
  REQUIRE(!unknown);
  CHECK(unknown.error().code == ErrorCode::not_found);
  CHECK(unknown.error().message.find("nearest: helios") != std::string::npos);
}

TEST_CASE("every format refuses absent, empty and meaningless files") {
  CHECK(format_rows().size() == 6);
  const std::string source = SCHEDMATE_SOURCE_DIR "/src/trace/formats_test.cpp";
  for (const FormatRow& row : format_rows()) {
    CHECK_MESSAGE(!row.read("/nowhere/at all", {}), row.name);
    CHECK_MESSAGE(!row.read(source, {}), row.name);
    CHECK_MESSAGE(!row.read("/dev/null", {}), row.name);
    CHECK_MESSAGE(row.read(source, {}).error().code == ErrorCode::invalid, row.name);
  }
}

TEST_CASE("blanks before JSON do not hide it, however many") {
  const std::string text = std::string(100'000, '\n') + "[]";
  CHECK(parse_philly(text, "t", {}).error().message == "t: no GPU job in 0 rows");
}

}  // namespace schedmate::trace
