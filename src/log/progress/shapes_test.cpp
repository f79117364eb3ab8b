// SPDX-License-Identifier: Apache-2.0
#include "log/progress/shapes.hpp"

#include <doctest/doctest.h>

namespace schedmate::progress {
namespace {

/// The steps that a log gives, line by line.
std::vector<double> steps_of(const std::vector<std::string>& lines) {
  Shapes shapes;
  std::vector<double> steps;
  for (const auto& line : lines)
    for (const Reading& known :
         shapes.add(line, read_line(lines::read_prefixes(line), LogWords::built_in())))
      steps.push_back(*known.step);
  return steps;
}

}  // namespace

TEST_CASE("lines that differ in numbers and blanks only have one shape") {
  CHECK(shape_of("[3]\tloss:1.06") == shape_of("[104]  loss:0.5e-3"));
  CHECK(shape_of("a 1,234 b -5") == shape_of("a 7 b 12"));
  CHECK(shape_of("loss 1") != shape_of("cost 1"));
  CHECK(shape_of("") == shape_of(" "));
}

TEST_CASE("a number that counts up evenly over three lines is the step") {
  CHECK(steps_of({"[1] loss:0.9", "[2] loss:0.8", "[3] loss:0.7", "[4] loss:0.6"}) ==
        std::vector<double>{1, 2, 3, 4});
  CHECK(steps_of({"100 | loss 0.9", "other 5", "200 | loss 0.8", "300 | loss 0.7"}) ==
        std::vector<double>{100, 200, 300});
}

TEST_CASE("uneven, falling or constant numbers are no step") {
  CHECK(steps_of({"[1] loss:0.9", "[3] loss:0.8", "[4] loss:0.7"}).empty());
  CHECK(steps_of({"[3] loss:0.9", "[2] loss:0.8", "[1] loss:0.7"}).empty());
  CHECK(steps_of({"[8] loss:0.9", "[8] loss:0.8", "[8] loss:0.7"}).empty());
  CHECK(steps_of({"[1] loss:0.9", "[2] loss:0.8"}).empty());
}

TEST_CASE("a list of things is no training: nothing in it says loss, time or speed") {
  CHECK(steps_of({"class 1 ap 0.5", "class 2 ap 0.6", "class 3 ap 0.7"}).empty());
  CHECK(steps_of({"worker 1 ready", "worker 2 ready", "worker 3 ready"}).empty());
}

TEST_CASE("a second run may begin again") {
  CHECK(steps_of({"[1] loss:0.9", "[2] loss:0.8", "[3] loss:0.7", "[1] loss:0.9"}) ==
        std::vector<double>{1, 2, 3, 1});
}

}  // namespace schedmate::progress
