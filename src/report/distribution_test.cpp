// SPDX-License-Identifier: Apache-2.0
#include "report/distribution.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "tests/support/near.hpp"

namespace schedmate::report {
namespace {

using testing::near;

std::vector<double> one_to(int last) {
  std::vector<double> values;
  for (int i = 1; i <= last; ++i) values.push_back(i);
  return values;
}

}  // namespace

TEST_CASE("quantiles are values that occurred, at the rank rounded up") {
  // 1..10: p50 is the 5th, p90 the 9th, p95 (rank 9.5) and above the 10th.
  const Distribution d = distribution(one_to(10));
  CHECK(d.average == 5.5);
  CHECK(d.p50 == 5);
  CHECK(d.p90 == 9);
  CHECK(d.p95 == 10);
  CHECK(d.p99 == 10);
  CHECK(d.max == 10);
  // 1..1000: the ranks are whole, so 0.95 * 1000 must not slip to 951 by rounding.
  CHECK(distribution(one_to(1000)).p95 == 950);
  CHECK(distribution(one_to(1000)).p99 == 990);
  CHECK(distribution(one_to(1000)).p999 == 999);
}

TEST_CASE("a distribution of nothing has no values") {
  const Distribution none = distribution({});
  CHECK(std::isnan(none.average));
  CHECK(std::isnan(none.p50));
  CHECK(std::isnan(none.max));
  CHECK(std::isnan(jain_index({})));
}

TEST_CASE("the cumulative share counts values equal to the grid point") {
  // grid: 1 s at 0, 10 s at 36, 100 s at 72; waits of 0 s are within the first point
  const std::vector<double> waits = {0, 1, 10, 1000};
  const RunSummary::Cdf share = cumulative(waits);
  CHECK(near(cdf_grid(36), 10, 1e-12, 0));
  CHECK(share[0] == 0.5);
  CHECK(share[35] == 0.5);
  CHECK(share[37] == 0.75);
  CHECK(share[107] == 0.75);
  CHECK(share[109] == 1.0);
  CHECK(share.back() == 1.0);
}

TEST_CASE("slowdown is bounded for short jobs and never below one") {
  CHECK(bounded_slowdown(Seconds(300), Seconds(100)) == 3.0);
  CHECK(bounded_slowdown(Seconds(300), Seconds(1)) == 30.0);
  CHECK(bounded_slowdown(Seconds(1), Seconds(1)) == 1.0);
  CHECK(bounded_slowdown(Seconds(0), Seconds(0)) == 1.0);
}

TEST_CASE("the Jain index is one for equals and 1/n for one who has all") {
  CHECK(jain_index(std::vector<double>{3, 3, 3, 3}) == 1.0);
  CHECK(jain_index(std::vector<double>{5, 0, 0, 0}) == 0.25);
  // (1 + 3)^2 / (2 * (1 + 9)) = 16 / 20
  CHECK(near(jain_index(std::vector<double>{1, 3}), 0.8, 1e-12, 0));
}

}  // namespace schedmate::report
