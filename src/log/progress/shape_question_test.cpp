// SPDX-License-Identifier: Apache-2.0
#include "log/progress/shape_question.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

namespace schedmate::progress {
namespace {

const LineShape shape{7, {"zug 3 hm 0.5", "zug 4 hm 0.25"}, {{3, 0.5}, {4, 0.25}}};

Result<LineMeaning> read_meaning(std::string_view reply) {
  return shape_question(shape, [](std::string_view text) { return std::string(text); }).read(reply);
}

}  // namespace

TEST_CASE("a shape is shown with its numbers by place, between marks, cleaned") {
  const auto clean = [](std::string_view text) {
    std::string shown(text);
    if (const auto at = shown.find("hm"); at != std::string::npos) shown.replace(at, 2, "--");
    return shown;
  };
  const ChatRequest request = shape_question(shape, clean).request;
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

}  // namespace schedmate::progress
