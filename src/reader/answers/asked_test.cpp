// SPDX-License-Identifier: Apache-2.0
#include "reader/answers/asked.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "tests/support/job_folder.hpp"
#include "tests/support/need.hpp"

namespace schedmate::reader {

TEST_CASE("what witnesses say here names no flag of the command line") {
  const testing::JobFolder here;
  here.write("job.log", "CUDA error: out of memory\n");
  settings::Session session;
  session.environment.variable = [](std::string_view) { return std::string(); };
  testing::need(session.settings.set("store", "memory", "the test"));
  const Document made =
      testing::need(diagnose(session, {.what = What::diagnose, .logs = {here.path("job.log")}}));
  REQUIRE(made["witness"].size() == 3);
  for (const Document& each : made["witness"]) CHECK(each["says"] == "was not asked");
}

}  // namespace schedmate::reader
