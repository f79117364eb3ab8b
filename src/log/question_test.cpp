// SPDX-License-Identifier: Apache-2.0
/// What a model is asked about logs, and what its replies say.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "log/cause_question.hpp"
#include "log/shape_question.hpp"

namespace schedmate {
namespace {

std::string plain(std::string_view text) { return std::string(text); }

const LineShape shape{7, {"zug 3 hm 0.5", "zug 4 hm 0.25"}, {{3, 0.5}, {4, 0.25}}};

}  // namespace

TEST_CASE("a shape is shown with its numbers by place, between marks, cleaned") {
  const auto clean = [](std::string_view text) {
    std::string shown(text);
    if (const auto at = shown.find("hm"); at != std::string::npos) shown.replace(at, 2, "--");
    return shown;
  };
  const ChatRequest request = shape_question(shape, clean);
  const std::string& text = request.messages.at(0).text;
  CHECK(text.contains("zug 3 -- 0.5\n  0=3 1=0.5\n"));
  CHECK(text.starts_with("<data "));
  CHECK_FALSE(request.system.contains("zug"));
  const auto json = nlohmann::json::parse(request.json_schema);
  CHECK(json["required"].size() == 7);
}

TEST_CASE("a reply about a shape is read strictly") {
  const auto made = read_meaning(
      R"(Sure! {"step": 0, "total": null, "epoch": null, "loss": 1, "time": 2, "time_unit": "ms",
         "time_kind": "since_start"})");
  REQUIRE(made);
  CHECK(*made == LineMeaning{0, {}, {}, 1, 2, 1e-3, TimeCover::since_start});
  const auto odd = read_meaning(R"({"step": 0, "time": 2, "time_unit": "none", "time_kind": "x"})");
  REQUIRE(odd);
  CHECK_FALSE(odd->time);  // a time of no kind is none
  for (const char* bad :
       {"", "no", "{}", R"({"step": -1})", R"({"step": 1e99})", R"({"step": "0"})",
        R"({"loss": 99999999999})", R"({"step": 0, "step": 1})", R"({"step": [0]})"})
    CHECK_MESSAGE(!read_meaning(bad), bad);
}

TEST_CASE("of several answers the majority counts, place by place") {
  const LineMeaning a{.step = 0, .loss = 1}, b{.step = 0, .loss = 2}, c{.step = 3, .loss = 2};
  CHECK(agreed_meaning(std::vector{a}) == a);
  CHECK(agreed_meaning(std::vector{a, b}) == LineMeaning{.step = 0});
  CHECK(agreed_meaning(std::vector{a, b, c}) == LineMeaning{.step = 0, .loss = 2});
  CHECK(agreed_meaning({}).empty());
}

TEST_CASE("the lines around a failure are numbered, and the far ones go when room is short") {
  OpenCause cause;
  for (std::uint64_t i = 101; i <= 300; ++i) cause.lines.push_back({i, "some words of a line"});
  cause.candidate = 251;
  const auto whole = cause_question(cause, plain, 1 << 20).messages.at(0).text;
  CHECK(whole.contains("\n101: some words"));
  CHECK(whole.contains("\n300: some words"));
  CHECK(whole.contains("marked line 251"));
  const auto part = cause_question(cause, plain, 600).messages.at(0).text;
  CHECK(part.size() < 900);
  CHECK(part.contains("\n251: some words"));
  CHECK_FALSE(part.contains("\n101: "));
  CHECK(cause_question({}, plain, 10).messages.at(0).text.contains("found no line"));
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

}  // namespace schedmate
