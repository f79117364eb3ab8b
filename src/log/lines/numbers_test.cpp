// SPDX-License-Identifier: Apache-2.0
#include "log/lines/numbers.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "tests/support/near.hpp"

namespace schedmate::lines {
namespace {

using testing::near;

/// The number with that key; fails the test when there is none.
Number with_key(std::string_view text, std::string_view key) {
  for (auto& number : numbers_of(text))
    if (number.key == key) return number;
  FAIL_CHECK(text << " has no key '" << key << "'");
  return {};
}

}  // namespace

TEST_CASE("what stands before a number is its key") {
  CHECK(with_key("loss: 0.5", "loss").value == 0.5);
  CHECK(with_key("loss=0.5", "loss").value == 0.5);
  CHECK(with_key("'train_loss': 0.5", "train_loss").value == 0.5);
  CHECK(with_key("{\"loss\": \"0.5\"}", "loss").value == 0.5);
  CHECK(near(with_key("| lm loss: 7.1E+00 |", "lm loss").value, 7.1, 1e-12, 0));
  CHECK(
      with_key("elapsed time per iteration (ms): 12.5", "elapsed time per iteration (ms)").value ==
      12.5);
  CHECK(with_key("|    fps | 76 |", "fps").value == 76);
  CHECK(with_key("step 100 loss 0.5", "loss").value == 0.5);
  CHECK(with_key("Epoch [3][100/200]", "epoch").value == 3);
}

TEST_CASE("a total belongs to its counter in every spelling") {
  for (const std::string_view text : {"step 100/2000", "step 100 / 2000", "step 100 of 2000",
                                      "step [100/2000]", "step 100/ 2,000"}) {
    const auto numbers = numbers_of(text);
    REQUIRE_MESSAGE(numbers.size() == 1, text);
    CHECK_MESSAGE(numbers[0].value == 100, text);
    CHECK_MESSAGE(numbers[0].total == 2000, text);
  }
}

TEST_CASE("a mean in parentheses belongs to the value before it") {
  const auto time = with_key("Time 0.500 (0.612)", "time");
  CHECK(time.value == 0.5);
  CHECK(time.mean == 0.612);
  CHECK(with_key("loss: 0.5 ( 0.6 )", "loss").mean == 0.6);
}

TEST_CASE("units stand at a number or one space behind it") {
  CHECK(numbers_of("3.81it/s")[0].unit == "it/s");
  CHECK(numbers_of("took 0.5 s,")[0].unit == "s");
  CHECK(numbers_of("550ms/step")[0].unit == "ms/step");
  CHECK(numbers_of("2304 images/sec")[0].unit == "images/sec");
  CHECK(numbers_of("87%")[0].percent);
  CHECK(numbers_of("loss 0.5 steps 100")[0].unit.empty());
}

TEST_CASE("thousands are multiplied in") {
  CHECK(numbers_of("step 9K")[0].value == 9000);
  CHECK(near(numbers_of("1.31kit/4.00kit")[0].value, 1310, 1e-12, 0));
  CHECK(near(numbers_of("1.31kit/4.00kit")[0].total, 4000, 1e-12, 0));
  CHECK(numbers_of("12kB")[0].value == 12);
}

TEST_CASE("digits inside words, hashes and versions begin no number") {
  for (const std::string_view text :
       {"conv2d fp16 resnet50", "9f2c1ab", "version 1.2.3", "0x7ffe12", "a_1 b.2c"})
    CHECK_MESSAGE(numbers_of(text).empty(), text);
}

TEST_CASE("nan is a number only where a value is expected") {
  CHECK(std::isnan(with_key("loss: nan, step: 3", "loss").value));
  CHECK(with_key("loss: nan, step: 3", "step").value == 3);
  CHECK(numbers_of("the nan is here").empty());
}

TEST_CASE("brackets are remembered, signs of ranges are not") {
  CHECK(numbers_of("[00:04<00:05")[0].in_brackets);
  CHECK(numbers_of("Batch [100-200]")[0].value == 200);
  CHECK(numbers_of("Batch [100-200]")[0].range == 100);
  CHECK(numbers_of("Minibatch[ 901-1000, 1%]")[0].range == 100);
  CHECK(numbers_of("2021-03-04")[0].range == 0);
  CHECK(numbers_of("loss: -0.5")[0].value == -0.5);
}

TEST_CASE("a flood of numbers is cut off") {
  std::string flood;
  for (int i = 0; i < 20000; ++i) flood += "1 ";
  CHECK(numbers_of(flood).size() == most_numbers);
}

}  // namespace schedmate::lines
