// SPDX-License-Identifier: Apache-2.0
#include "elastic/training.hpp"

#include <doctest/doctest.h>

#include "tests/support/near.hpp"

namespace schedmate::elastic {
namespace {

using testing::near;

/// Two epochs at batches of 10 and 30; the larger batch needs fewer of the small steps at first.
TrainingTable two_epochs() {
  return TrainingTable({{10, {100, 200}, {{1, 2}, {3, 4}}}, {30, {90, 210}, {{5, 10}, {7, 12}}}});
}

TEST_CASE("a training begins with the smallest batch and ends with the largest") {
  const TrainingTable table = two_epochs();
  CHECK(table.initial_batch() == 10);
  CHECK(table.most_batch() == 30);
  CHECK(table.epochs() == 2);
}

TEST_CASE("an epoch ends with the run that needs the least for it") {
  CHECK(two_epochs().end_of(0) == 90);
  CHECK(two_epochs().end_of(1) == 200);
}

TEST_CASE("noise is that of a run at its own batch") {
  const TrainingTable table = two_epochs();
  CHECK(table.noise_at(10, 0).squared == 1);
  CHECK(table.noise_at(10, 1).variance == 4);
  CHECK(table.noise_at(30, 0).squared == 5);
  CHECK(table.noise_at(30, 1).variance == 12);
}

TEST_CASE("noise is linear between two batches") {
  const GradientNoise noise = two_epochs().noise_at(15, 0);
  CHECK(near(noise.squared, 2, 1e-12, 0));   // a quarter of the way from 1 to 5
  CHECK(near(noise.variance, 4, 1e-12, 0));  // from 2 to 10
}

TEST_CASE("beyond the runs the nearest stands in") {
  CHECK(two_epochs().noise_at(1000, 1).squared == 7);
  CHECK(two_epochs().noise_at(1, 1).squared == 3);
}

TEST_CASE("one run says the same of every batch") {
  const TrainingTable table({{8, {5}, {{2, 3}}}});
  for (const double batch : {1.0, 8.0, 9.0, 1e9}) CHECK(table.noise_at(batch, 0).variance == 3);
}

}  // namespace
}  // namespace schedmate::elastic
