// SPDX-License-Identifier: Apache-2.0
#include "command/arithmetic.hpp"

#include <doctest/doctest.h>

#include <map>
#include <string>

namespace schedmate::command {
namespace {

struct Memory {
  std::map<std::string, std::optional<std::int64_t>, std::less<>> values{{"a", 7}, {"gone", {}}};
  Numbers numbers() {
    return {[this](std::string_view name) -> std::optional<std::int64_t> {
              const auto found = values.find(name);
              return found == values.end() ? std::nullopt : found->second;
            },
            [this](std::string_view name, std::optional<std::int64_t> value) {
              values[std::string(name)] = value;
            }};
  }
};

std::optional<std::int64_t> value(std::string_view expression) {
  Memory memory;
  return calculate(expression, memory.numbers());
}

}  // namespace

TEST_CASE("operators bind as in C") {
  CHECK(value("1 + 2 * 3 - 4 / 2") == 5);
  CHECK(value("(1 + 2) * -3") == -9);
  CHECK(value("2 ** 3 ** 2") == 512);
  CHECK(value("1 << 3 | 1") == 9);
  CHECK(value("a >= 7 && !0 ? a % 4 : 9") == 3);
  CHECK(value("0x1f + 010 + 2#101") == 44);
  CHECK(value("") == 0);
}

TEST_CASE("assignments change variables") {
  Memory memory;
  CHECK(calculate("a += 3, b = a * 2", memory.numbers()) == 20);
  CHECK(memory.values["a"] == 10);
  CHECK(calculate("a++ + ++a", memory.numbers()) == 22);
  CHECK(memory.values["a"] == 12);
}

TEST_CASE("what is unknown, broken or too large gives nothing") {
  for (const char* const text :
       {"gone + 1", "b", "1 / 0", "1 % 0", "1 +", "(1", "1 2", "9223372036854775807 + 1",
        "2 ** 100", "1 << 70", "a ? b", "08", "5#9", "\xff\x01"}) {
    CAPTURE(text);
    CHECK_FALSE(value(text));
  }
  CHECK(value("0 && gone") == 0);
  CHECK(value("1 || gone") == 1);
  CHECK_FALSE(value(std::string(100'000, '(')));
  CHECK_FALSE(value(std::string(100'000, '-') + "1"));
}

}  // namespace schedmate::command
