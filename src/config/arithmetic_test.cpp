// SPDX-License-Identifier: Apache-2.0
#include "config/arithmetic.hpp"

#include <doctest/doctest.h>

namespace schedmate::config {
namespace {

std::string value_of(std::string_view text) {
  const auto value = evaluate(text);
  return value ? repr(Value(*value)) : "nothing";
}

TEST_CASE("expressions have Python's precedence, types and rounding") {
  CHECK(value_of("2 + 3 * 4 ** 2 // 5") == "11");
  CHECK(value_of("-7 // 2") == "-4");
  CHECK(value_of("-7 % 3") == "2");
  CHECK(value_of("-2 ** 2") == "-4");
  CHECK(value_of("2 ** -1") == "0.5");
  CHECK(value_of("10 / 4") == "2.5");
  CHECK(value_of("1e-3 * 8") == "0.008");
  CHECK(value_of("round(2.5) + round(3.5)") == "6");
  CHECK(value_of("int(7.9) + math.ceil(0.2)") == "8");
  CHECK(value_of("min(3, 2, 5) * max(1, 4)") == "8");
  CHECK(value_of("'a' + 'b'") == "'ab'");
}

TEST_CASE("expressions may compare and choose") {
  CHECK(value_of("1 if 3 >= 3 and not False else 2") == "1");
  CHECK(value_of("'x' == 'y' or 4") == "4");
  CHECK(value_of("None == None") == "True");
}

TEST_CASE("what is no arithmetic, or would raise, gives nothing") {
  for (const auto* text : {"", "a + 1", "1 +", "1 / 0", "1 % 0", "(1", "1 1", "f(2)", "2 ** 100",
                           "9223372036854775807 + 1", "__import__('os')", "[1]", "1 if 2",
                           "float('x')", "int(1e30)", "'open"}) {
    CAPTURE(text);
    CHECK(value_of(text) == "nothing");
  }
  CHECK(value_of(std::string(100'000, '(')) == "nothing");
  CHECK(value_of(std::string(100'000, '-')) == "nothing");
  CHECK(value_of("9223372036854775807 // -1") == "-9223372036854775807");
}

TEST_CASE("resolvers are known by plain names only") {
  const auto call = [](std::string_view name, const List& arguments) {
    const auto value = calculate(name, arguments);
    return value ? repr(Value(*value)) : "nothing";
  };
  const List two = {Value(std::int64_t{7}), Value(std::int64_t{2})};
  CHECK(call("multiply", two) == "14");
  CHECK(call("int_div", two) == "3");
  CHECK(call("divide", two) == "?");
  CHECK(call("sum", {Value::list(two)}) == "9");
  CHECK(call("to_int", {Value("12")}) == "12");
  CHECK(call("get_dim", two) == "nothing");
}

}  // namespace
}  // namespace schedmate::config
