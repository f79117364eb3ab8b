// SPDX-License-Identifier: Apache-2.0
#include "advisor/scaling.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "tests/support/near.hpp"

namespace schedmate::advisor {
namespace {

using testing::near;

Fields job(std::string_view length) {
  return {{"length", std::string(length)},
          {"batch_size", "32"},
          {"gpus", "4"},
          {"distributed", "ddp"},
          {"runs", "1"}};
}

Fields changed(Fields fields, std::string_view name, std::string_view value) {
  fields[std::string(name)] = value;
  return fields;
}

double factor(const Fields& ours, const Fields& theirs) {
  return scale_between(ours, theirs).factor;
}

TEST_CASE("twice the epochs take twice as long") {
  const Scaling scaling = scale_between(job("20 epochs"), job("10 epochs"));
  CHECK(near(scaling.factor, 2, 1e-12, 0));
  CHECK(scaling.why == std::vector<std::string>{"length x2"});
  CHECK(scale_between(job("10 epochs"), job("10 epochs")).why.empty());
}

TEST_CASE("GPUs divide epochs but not steps") {
  const Fields epochs = job("10 epochs");
  CHECK(near(factor(changed(epochs, "gpus", "2"), epochs), std::pow(2, 0.9), 1e-12, 0));
  const Fields steps = job("1000 steps");
  CHECK(near(factor(changed(steps, "gpus", "8"), steps), std::pow(2, 0.1), 1e-12, 0));
}

TEST_CASE("a doubled batch shortens epochs a little and lengthens steps nearly twice") {
  const Fields epochs = job("10 epochs");
  CHECK(near(factor(changed(epochs, "batch_size", "64"), epochs), std::pow(2, -0.1), 1e-12, 0));
  const Fields steps = job("1000 steps");
  CHECK(near(factor(changed(steps, "batch_size", "64"), steps), std::pow(2, 0.9), 1e-12, 0));
  CHECK(near(factor(changed(steps, "accumulation", "2"), steps), std::pow(2, 0.9), 1e-12, 0));
}

TEST_CASE("GPUs that a job does not use do not speed it up") {
  const Fields alone = changed(job("10 epochs"), "distributed", "none");
  CHECK(factor(changed(alone, "gpus", "8"), alone) == 1);
}

TEST_CASE("lengths of different units meet in samples") {
  Fields epochs = changed(job("10 epochs"), "dataset_size", "12800");
  CHECK(near(factor(epochs, job("1000 steps")), 1, 1e-12, 0));
  CHECK(near(factor(job("256 kimg"), epochs), 2, 1e-12, 0));
  CHECK(factor(job("10 epochs"), job("1000 steps")) == 1);  // size of the data set unknown
}

TEST_CASE("a data set that grew makes longer epochs") {
  const Fields epochs = changed(job("10 epochs"), "dataset_size", "1000");
  CHECK(near(factor(changed(epochs, "dataset_size", "3000"), epochs), 3, 1e-12, 0));
}

TEST_CASE("several trainings in a job multiply") {
  CHECK(near(factor(changed(job("10 epochs"), "runs", "6"), job("10 epochs")), 6, 1e-12, 0));
}

TEST_CASE("what is unknown or senseless scales nothing, and nothing scales beyond belief") {
  CHECK(factor({}, job("10 epochs")) == 1);
  CHECK(factor(changed(job("10 epochs"), "gpus", "0"), job("10 epochs")) == 1);
  CHECK(factor(job("0 epochs"), job("10 epochs")) == 1);
  CHECK(factor(job("inf epochs"), job("10 epochs")) == 1);
  CHECK(factor(job("1e30 epochs"), job("1 epochs")) == 256);
}

}  // namespace
}  // namespace schedmate::advisor
