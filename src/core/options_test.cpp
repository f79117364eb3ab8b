// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <schedmate/scheduler.hpp>

namespace schedmate {
namespace {

TEST_CASE("a setting that was not given has its default") {
  PolicyOptions options;
  CHECK(options.take_integer("count", 7).value() == 7);
  CHECK(options.take_number("share", 0.5).value() == 0.5);
  CHECK(options.take_flag("on", true).value());
  CHECK_FALSE(options.take_flag("off", false).value());
  CHECK(options.take_text("name", "x") == "x");
  CHECK(options.check_all_taken("any").has_value());
}

TEST_CASE("settings are read as what they are") {
  PolicyOptions options({{"count", "-3"}, {"share", "1e-3"}, {"flag", "off"}, {"name", "a+b"}});
  CHECK(options.take_integer("count", 7).value() == -3);
  CHECK(options.take_number("share", 1).value() == 0.001);
  CHECK_FALSE(options.take_flag("flag", true).value());
  CHECK(options.take_text("name", "") == "a+b");
}

TEST_CASE("a setting that cannot be read is an error that repeats it") {
  PolicyOptions options({{"count", "3x"}, {"share", "many"}, {"flag", "maybe"}});
  const auto count = options.take_integer("count", 7);
  REQUIRE_FALSE(count.has_value());
  CHECK(count.error().message.find("count=3x") != std::string::npos);
  CHECK(options.take_number("share", 1).error().code == ErrorCode::unsupported);
  CHECK(options.take_flag("flag", true).error().message.find("true or false") != std::string::npos);
}

TEST_CASE("a setting that nobody asked for is not found, and the nearest known one is named") {
  PolicyOptions options(std::map<std::string, std::string, std::less<>>{{"treshold", "5"}});
  (void)options.take_integer("threshold", 1);
  (void)options.take_flag("packing", true);
  const auto checked = options.check_all_taken("any");
  REQUIRE_FALSE(checked.has_value());
  CHECK(checked.error().code == ErrorCode::not_found);
  CHECK(checked.error().message.find("policy/any") != std::string::npos);
  CHECK(checked.error().message.find("nearest: threshold") != std::string::npos);
}

}  // namespace
}  // namespace schedmate
