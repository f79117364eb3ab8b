// SPDX-License-Identifier: Apache-2.0
#include "base/whole_number.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

namespace schedmate {
namespace {

TEST_CASE("whole numbers, however they are written") {
  for (const auto& [text, number] : {std::pair<std::string, std::int64_t>{"8", 8},
                                     {"8.0", 8},
                                     {"-3e2", -300},
                                     {"9223372036854775807", INT64_MAX},
                                     {"9007199254740991.0", 9'007'199'254'740'991}}) {
    CAPTURE(text);
    CHECK(whole_number(Document::parse(text)) == number);
  }
  for (const char* text : {"8.5", "1e300", "9223372036854775808", "9007199254740993.5", "-1e16",
                           "\"8\"", "null", "true", "[8]"}) {
    CAPTURE(text);
    CHECK_FALSE(whole_number(Document::parse(text)).has_value());
  }
}

}  // namespace
}  // namespace schedmate
