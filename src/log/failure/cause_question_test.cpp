// SPDX-License-Identifier: Apache-2.0
#include "log/failure/cause_question.hpp"

#include <doctest/doctest.h>

namespace schedmate::failure {
namespace {

std::string plain(std::string_view text) { return std::string(text); }

Result<CauseClaim> read_cause(std::string_view reply) {
  return cause_question({}, plain, 10).read(reply);
}

}  // namespace

TEST_CASE("the lines around a failure are numbered, and the far ones go when room is short") {
  OpenCause cause;
  for (std::uint64_t i = 101; i <= 300; ++i) cause.lines.push_back({i, "some words of a line"});
  cause.candidate = 251;
  const auto whole = cause_question(cause, plain, 1 << 20).request.messages.at(0).text;
  CHECK(whole.contains("\n101: some words"));
  CHECK(whole.contains("\n300: some words"));
  CHECK(whole.contains("marked line 251"));
  const auto part = cause_question(cause, plain, 600).request.messages.at(0).text;
  CHECK(part.size() < 900);
  CHECK(part.contains("\n251: some words"));
  CHECK_FALSE(part.contains("\n101: "));
  CHECK(cause_question({}, plain, 10).request.messages.at(0).text.contains("found no line"));
}

TEST_CASE("a reply about a cause holds words of the enumerations only") {
  const auto made = read_cause(
      R"({"reason": "disk", "line": 7, "class": "infrastructure", "component": "storage"})");
  REQUIRE(made);
  CHECK(made->verdict == FailureClass::infrastructure);
  CHECK(made->component == Component::storage);
  CHECK(made->line == 7);
  for (const char* bad :
       {R"({"line": 7, "class": "hardware", "component": "gpu"})",
        R"({"line": 7, "class": "infrastructure", "component": "node n12"})",
        R"({"line": "7", "class": "framework", "component": "none"})",
        R"({"line": -7, "class": "framework", "component": "none"})",
        R"({"class": "framework", "component": "none"})", R"({"line": 7})", "infrastructure"})
    CHECK_MESSAGE(!read_cause(bad), bad);
}

TEST_CASE("models that disagree on the cause say nothing") {
  const CauseClaim disk{FailureClass::infrastructure, Component::storage, 3, "a"};
  const CauseClaim link{FailureClass::infrastructure, Component::network, 4, "b"};
  CHECK_FALSE(agreed_cause({}));
  CHECK_FALSE(agreed_cause(std::vector{disk, link}));
  CHECK(agreed_cause(std::vector{disk, link, link})->line == 4);
}

}  // namespace schedmate::failure
