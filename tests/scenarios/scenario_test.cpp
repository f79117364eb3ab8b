// SPDX-License-Identifier: Apache-2.0
#include "tests/scenarios/scenario.hpp"

#include <doctest/doctest.h>

namespace schedmate::scenario {
namespace {

constexpr std::string_view small =
    "cluster a nodes=1\n"
    "job x gpus=8 duration_s=10\n"
    "job y submit_s=3 gpus=2 duration_s=5\n"
    "policy fifo\n"
    "----\n";

TEST_CASE("a scenario is played row by row") {
  const auto scenario = read_scenario("small", small);
  REQUIRE(scenario);
  CHECK(play(*scenario).value() == "[fifo]\nx 0 10 0:0-7\ny 10 15 0:0-1\n");
}

TEST_CASE("a difference shows the rows that differ under their policy") {
  CHECK(difference("[fifo]\nx 0 10 0:0\ny 1 2 0:0\n", "[fifo]\nx 0 11 0:0\ny 1 2 0:0\n") ==
        "[fifo]\n  - x 0 10 0:0\n  + x 0 11 0:0\n");
  CHECK(difference("[fifo]\nx 1\n\n# note\n", "[fifo]\nx 1\n").empty());
  CHECK_FALSE(difference("[fifo]\nx 1\ny 2\n", "[fifo]\ny 2\nx 1\n").empty());
  CHECK_FALSE(difference("[fifo]\nx 1\n", "[fifo]\nx 1\n[sjf]\nx 1\n").empty());
}

TEST_CASE("a broken scenario is an error with its line") {
  const auto message = [](const std::string& text) {
    const auto scenario = read_scenario("broken", text);
    return scenario ? std::string("none") : scenario.error().message;
  };
  CHECK(message("cluster a nodes=x\n") == "broken:1: 'x' is not a number");
  CHECK(message("\nclutser a\n").starts_with("broken:2: unknown line 'clutser' (nearest: cluster"));
  CHECK(message("cluster a\njob x vc=b\n") == "broken:2: no cluster line of VC 'b'");
  CHECK(message("cluster a\njob x size=3\n") == "broken:2: job has no size=");
  CHECK(message("cluster a\njob x submit_s=9\njob y\n") == "broken:3: jobs go by submit_s");
  CHECK(message("cluster a\npolicy fifo\n") == "broken:2: there is no line of four dashes");
  CHECK(message("cluster a\n----\n") == "broken:2: there is no `policy` line");
  CHECK(message("cluster\n") == "broken:1: a word is missing");
}

TEST_CASE("an unknown policy or setting of a scenario is an error") {
  const auto wrong = [](std::string_view policy) {
    const auto scenario = read_scenario(
        "x", std::string("cluster a\njob x\npolicy ") + std::string(policy) + "\n----\n");
    return play(scenario.value()).error();
  };
  CHECK(wrong("fifoo").code == ErrorCode::not_found);
  CHECK(wrong("fifo:speed=3").code == ErrorCode::not_found);
  CHECK(wrong("sjf:estimate=guess").code == ErrorCode::not_found);
}

}  // namespace
}  // namespace schedmate::scenario
