// SPDX-License-Identifier: Apache-2.0
#include "base/json_reader.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

namespace schedmate {
namespace {

std::string fault(std::string_view text) {
  const auto read = read_json(text, {.deepest = 4, .most_values = 10});
  return read ? "" : read.error().message;
}

}  // namespace

TEST_CASE("a JSON value of somebody else is read whole or refused") {
  CHECK(read_json(R"({"a": [1, {"b": "}]"}]})", {.deepest = 4})->at("a").at(1).at("b") == "}]");
  CHECK(fault(R"({"a": {"k": 1}, "b": {"k": 2}})").empty());
  CHECK(fault(R"({"a": "[[[[[[[[[[\"[[["})").empty());
  CHECK(fault(R"({"k": 1, "k": 2})") == R"(the JSON has a key twice: "k")");
  CHECK(fault("[[[[1]]]]").empty());
  CHECK(fault("[[[[[1]]]]]") == "the JSON is nested deeper than 4 levels at byte 4");
  CHECK(fault("{\"a\": }") == "no valid JSON at byte 7");
  CHECK(fault("{\"a\": 1} 2") == "no valid JSON at byte 10");
  CHECK(fault("[1e999]") == "no valid JSON: a number is out of range");
  CHECK(fault("\"\xff\"") == "no valid JSON at byte 2");
  CHECK(fault("[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]") == "the JSON has more than 10 values");
  CHECK(fault("\"1, 2, 3, 4, 5, 6, 7, 8, 9, 10\"").empty());
  CHECK(fault(std::string_view("{}\0{}", 5)) == "the JSON holds a NUL byte");
  CHECK(fault("").starts_with("no valid JSON"));
  CHECK(fault(std::string(1'000'000, '[')).contains("deeper"));
}

}  // namespace schedmate
