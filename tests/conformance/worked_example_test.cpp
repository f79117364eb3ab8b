// SPDX-License-Identifier: Apache-2.0
/// The worked example of docs/adding.md; the property suite runs over it as well.
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "tests/conformance/subjects.hpp"
#include "tests/support/small.hpp"

namespace schedmate::conformance {
namespace {

std::string text_of_file(const std::string& path) {
  std::ifstream in(SCHEDMATE_SOURCE_DIR "/" + path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Ends of three jobs of 8 GPUs on one node: 100 s at 0, 90 s at 1, 10 s at 60.
std::vector<SimTime> ends_with_weight(const std::string& weight) {
  const World world{testing::small_trace({{0, 8, 100}, {1, 8, 90}, {60, 8, 10}}),
                    testing::small_cluster({1})};
  PolicyOptions settings(std::map<std::string, std::string, std::less<>>{{"weight", weight}});
  const auto scheduler =
      policy::make_aged_sjf({world.cluster, {}, 1, forecast_of(world.trace)}, settings);
  const auto result = simulate(world.trace, world.cluster, scheduler.value(), {});
  std::vector<SimTime> ends;
  for (const JobOutcome& job : result->outcomes) ends.push_back(job.end);
  return ends;
}

TEST_CASE("the worked example orders by length and age") {
  // Ranks at weight 0: 90 and 10, the short one goes first; at weight 2: 92 and 130, the old one.
  CHECK(ends_with_weight("0") == std::vector{at(100), at(200), at(110)});
  CHECK(ends_with_weight("2") == std::vector{at(100), at(190), at(200)});
}

TEST_CASE("docs/adding.md shows the worked example as it is compiled, under 40 lines") {
  const std::string source = text_of_file("tests/conformance/worked_example.cpp");
  REQUIRE_FALSE(source.empty());
  CHECK(std::ranges::count(source, '\n') < 40);
  CHECK(text_of_file("docs/adding.md").find("```cpp\n" + source + "```\n") != std::string::npos);
}

}  // namespace
}  // namespace schedmate::conformance
