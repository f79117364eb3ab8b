// SPDX-License-Identifier: Apache-2.0
#include "client/known_job.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

namespace schedmate::client {
namespace {

TEST_CASE("a diagnosis without a class was not judged") {
  const auto of = [](const char* text) { return diagnosis_of(Document::parse(text)); };
  CHECK(!of(R"({"diagnosis":null})"));
  CHECK(!of("{}"));
  REQUIRE(of(R"({"diagnosis":{"class":null,"reason":"the log is empty"}})"));
  CHECK(!of(R"({"diagnosis":{"class":null,"reason":"the log is empty"}})")->judged);
  const auto judged = of(R"({"diagnosis":{"class":"user_script","reason":"NameError"}})");
  CHECK(judged->judged);
  CHECK(judged->verdict == FailureClass::user_script);
}

}  // namespace
}  // namespace schedmate::client
