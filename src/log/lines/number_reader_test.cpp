// SPDX-License-Identifier: Apache-2.0
#include "log/lines/number_reader.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "tests/support/near.hpp"

namespace schedmate::lines {
namespace {

using testing::near;

struct NumberCase {
  std::string_view text;
  double value;
  std::size_t length;
};

}  // namespace

TEST_CASE("a number ends where its digits, exponent or groups end") {
  for (const NumberCase& each : {NumberCase{"12 next", 12, 2},
                                 {"-0.5,", -0.5, 4},
                                 {".25", 0.25, 3},
                                 {"3.2e+4it", 3.2e4, 6},
                                 {"1.e-3", 1e-3, 5},
                                 {"1. next", 1, 2},
                                 {"1,234,567 rows", 1234567, 9},
                                 {"1,23", 1, 1},
                                 {"0,123", 0, 1},
                                 {"1234,567", 1234, 4},
                                 {"1e", 1, 1},
                                 {"+7", 7, 2}}) {
    const Literal read = read_literal(each.text);
    CHECK_MESSAGE(read.length == each.length, each.text);
    CHECK_MESSAGE(near(read.value, each.value, 1e-12, 0), each.text);
    CHECK_MESSAGE(!read.clock, each.text);
  }
}

TEST_CASE("clocks are read as seconds in every spelling") {
  for (const NumberCase& each : {NumberCase{"0:21:51", 1311, 7},
                                 {"04:06<", 246, 5},
                                 {"1:02:03.5 ", 3723.5, 9},
                                 {"1 day, 2:03:04", 93784, 14},
                                 {"2 days 2:03:04", 180184, 14},
                                 {"6h 48m 03s", 24483, 10},
                                 {"4m15s", 255, 5},
                                 {"45s8ms |", 45.008, 6},
                                 {"100:00:00", 360000, 9}}) {
    const Literal read = read_literal(each.text);
    CHECK_MESSAGE(read.clock, each.text);
    CHECK_MESSAGE(read.length == each.length, each.text);
    CHECK_MESSAGE(near(read.value, each.value, 1e-12, 0), each.text);
  }
}

TEST_CASE("seconds and milliseconds with a blank between them are two times") {
  CHECK(read_literal("8s 24ms/step").length == 1);
}

TEST_CASE("nan and inf are numbers, words that begin like them are none") {
  CHECK(std::isnan(read_literal("nan,").value));
  CHECK(std::isinf(read_literal("-inf").value));
  CHECK(read_literal("-inf").value < 0);
  CHECK(read_literal("nano").length == 0);
  CHECK(read_literal("info").length == 0);
  CHECK(read_literal("inf_loss").length == 0);
}

TEST_CASE("versions, addresses, hexadecimal digits and empty text are no numbers") {
  for (const std::string_view text : {"1.2.3", "10.0.0.1", "0x1f", "", "-", "abc", "."})
    CHECK_MESSAGE(read_literal(text).length == 0, text);
}

TEST_CASE("a number of any size is read without overflow") {
  CHECK(read_literal(std::string(5000, '9')).length == 5000);
  CHECK(read_literal("1e9999").length == 6);
  CHECK(read_literal("99999999:99:99").length > 0);
}

}  // namespace schedmate::lines
