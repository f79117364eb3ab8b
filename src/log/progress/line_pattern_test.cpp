// SPDX-License-Identifier: Apache-2.0
#include "log/progress/line_pattern.hpp"

#include <doctest/doctest.h>

#include "tests/support/near.hpp"

namespace schedmate::progress {
namespace {

using testing::near;

std::optional<double> at(std::string_view pattern, std::string_view body, PatternPlace place) {
  const auto parsed = LinePattern::parse(pattern);
  REQUIRE_MESSAGE(parsed, pattern);
  const auto values = parsed->read(body);
  return values ? values->at(static_cast<std::size_t>(place)) : std::nullopt;
}

}  // namespace

TEST_CASE("a pattern says which number is what by its place") {
  const std::string_view pattern = "{step}: {_}, {loss} avg loss, {_} rate, {time} seconds";
  const std::string_view line = " 2: 2099.2, 2097.3 avg loss, 0.000 rate, 1.99 seconds, 128 images";
  CHECK(at(pattern, line, PatternPlace::step) == 2);
  CHECK(at(pattern, line, PatternPlace::loss) == 2097.3);
  CHECK(at(pattern, line, PatternPlace::time) == 1.99);
  CHECK(!at(pattern, "2: 2099.2 of something else", PatternPlace::step));
}

TEST_CASE("a blank stands for any number of blanks, and the rest of the line is free") {
  CHECK(at("it {step} loss {loss}", "it   7\tloss \t 0.5 and more", PatternPlace::loss) == 0.5);
  CHECK(!at("it {step} loss {loss}", "it 7", PatternPlace::step));
}

TEST_CASE("times are taken with their unit") {
  CHECK(near(at("{step} t {time}", "1 t 900ms", PatternPlace::time), 0.9, 1e-12, 0));
  CHECK(near(at("{step} t {time}", "1 t 45.1 ms", PatternPlace::time), 0.0451, 1e-12, 0));
  CHECK(at("{step} t {elapsed}", "1 t 1m 2s", PatternPlace::elapsed) == 62);
  CHECK(at("{step} t {time}", "1 t 3 apples", PatternPlace::time) == 3);
}

TEST_CASE("{*} skips as little as it can") {
  CHECK(at("a{*}: {step}", "a: b: 3: 4", PatternPlace::step) == std::nullopt);
  CHECK(at("a{*}n: {step}", "a: bn: 3: n: 4", PatternPlace::step) == 3);
}

TEST_CASE("a pattern that cannot be right is refused with a reason") {
  for (const std::string_view text : {"{stepp}: x", "{step}{loss}", "{step"}) {
    const auto parsed = LinePattern::parse(text);
    REQUIRE_MESSAGE(!parsed, text);
    CHECK_MESSAGE(!parsed.error().message.empty(), text);
  }
}

}  // namespace schedmate::progress
