// SPDX-License-Identifier: Apache-2.0

/// track with the real program.

#include <doctest/doctest.h>

#include <algorithm>

#include "tests/cli/program.hpp"

namespace schedmate {
namespace {

std::string steps(int from, int to) {
  std::string text;
  for (int i = from; i < to; ++i) text += "step " + std::to_string(i) + "/100 loss 0.5 time 0.25\n";
  return text;
}

}  // namespace

TEST_CASE("track prints step, speed and what is left, for people and for programs") {
  const Scratch here;
  const std::string log = here.write("log", steps(1, 41));
  const Ran text = here.run({"track", log});
  CHECK(text.status == 0);
  CHECK(text.out.contains("step       40 of 100"));
  CHECK(text.out.contains("remaining  15 s"));
  const Ran json = here.run({"track", log, "--json"});
  CHECK(json.out.starts_with(R"({"schema":"schedmate.progress.v1","step":40,"total_steps":100)"));
}

TEST_CASE("track of several ranks, of none and of an absent log") {
  const Scratch here;
  const std::string first = here.write("0", steps(1, 5));
  const std::string second = here.write("1", "loss: 0.25\n");
  CHECK(here.run({"track", first, second, "--json"}).out.contains("\"step\":4"));
  CHECK(here.run({"track"}).status == 2);
  CHECK(here.run({"track", first, second, "--follow"}).status == 2);
  CHECK(here.run({"track", here.path("none")}).status == 3);
}

TEST_CASE("track --follow prints one line for each change and none on silence") {
  const Scratch here;
  const std::string log = here.write("log", steps(1, 5));
  const Ran ran = here.run({"track", log, "--follow", "--json", "--every", "0.02", "--for", "0.2"});
  CHECK(ran.status == 0);
  CHECK(std::ranges::count(ran.out, '\n') == 1);
  CHECK(here.run({"track", here.path("none"), "--follow", "--for", "0.05", "--every", "0.01"})
            .out.empty());
}

}  // namespace schedmate
