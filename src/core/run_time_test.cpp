// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cmath>
#include <schedmate/run_time.hpp>

#include "tests/support/near.hpp"

namespace schedmate {
namespace {

using testing::near;

double quantile_s(const RunTimeDistribution& of, double share) {
  return of.quantile(share).count();
}

constexpr RunTimeDistribution made{FractionalSeconds(900), FractionalSeconds(10),
                                   FractionalSeconds(100), FractionalSeconds(3600)};

TEST_CASE("known quantiles are given as they are, others lie between them, none beyond") {
  CHECK(quantile_s(made, 0.1) == 10);
  CHECK(quantile_s(made, 0.5) == 100);
  CHECK(quantile_s(made, 0.9) == 3600);
  CHECK(near(quantile_s(made, 0.3), std::sqrt(10.0 * 100), 1e-12, 0));
  CHECK(near(quantile_s(made, 0.7), std::sqrt(100.0 * 3600), 1e-12, 0));
  CHECK(quantile_s(made, 0) == 10);
  CHECK(quantile_s(made, 1) == 3600);
  double before = 0;
  for (double share = 0; share <= 1; share += 0.01) {
    CHECK(quantile_s(made, share) >= before);
    before = quantile_s(made, share);
  }
}

TEST_CASE("run times of nothing are no error, and a point is the same at every share") {
  const RunTimeDistribution some{FractionalSeconds(5), FractionalSeconds(0), FractionalSeconds(8),
                                 FractionalSeconds(9)};
  CHECK(near(quantile_s(some, 0.3), 4, 1e-12, 0));
  for (const double share : {0.0, 0.3, 0.5, 0.8, 1.0})
    CHECK(quantile_s(RunTimeDistribution::point(FractionalSeconds(7)), share) == 7);
}

TEST_CASE("moved to another run time it is as wide in proportion") {
  const RunTimeDistribution moved = made.moved(FractionalSeconds(100), FractionalSeconds(50));
  CHECK(moved.mean.count() == 450);
  CHECK(moved.p10.count() == 5);
  CHECK(moved.p50.count() == 50);
  CHECK(moved.p90.count() == 1800);
}

}  // namespace
}  // namespace schedmate
