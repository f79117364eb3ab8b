// SPDX-License-Identifier: Apache-2.0
#include "study/statistics.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>

#include "tests/support/near.hpp"

namespace schedmate::study {

using testing::near;

TEST_CASE("student_t: the printed tables, for odd and even degrees of freedom") {
  CHECK(near(student_t(0.975, 1), 12.7062, 1e-5, 0));
  CHECK(near(student_t(0.975, 2), 4.30265, 1e-5, 0));
  CHECK(near(student_t(0.975, 3), 3.18245, 1e-5, 0));
  CHECK(near(student_t(0.975, 10), 2.22814, 1e-5, 0));
  CHECK(near(student_t(0.975, 19), 2.09302, 1e-5, 0));
  CHECK(near(student_t(0.95, 19), 1.72913, 1e-5, 0));
  CHECK(near(student_t(0.975, 1000), 1.96234, 1e-5, 0));
  CHECK(near(student_t(0.5, 7), 0, 0, 1e-12));
}

TEST_CASE("mean_interval: worked by hand") {
  // Mean 3, squares 4+1+0+1+4 = 10, variance 10/4, standard error sqrt(2.5/5) = 0.70711.
  const std::array values{1.0, 2.0, 3.0, 4.0, 5.0};
  const Interval interval = mean_interval(values);
  CHECK(near(interval.value, 3, 1e-12, 0));
  CHECK(near(interval.low, 3 - 2.776445 * 0.7071068, 1e-6, 0));
  CHECK(near(interval.high, 3 + 2.776445 * 0.7071068, 1e-6, 0));
  CHECK(interval.n == 5);
  CHECK(near(upper_bound(values), 3 + 2.131847 * 0.7071068, 1e-6, 0));
}

TEST_CASE("one value has no interval, none has no mean") {
  const std::array one{2.0};
  CHECK(mean_interval(one).value == 2);
  CHECK(std::isnan(mean_interval(one).low));
  CHECK(std::isnan(upper_bound(one)));
  CHECK(std::isnan(mean_interval({}).value));
}

TEST_CASE("ratio_interval: sums, bootstrap within the ratios of the pairs, the same each time") {
  const std::array part{1.0, 2.0, 3.0};
  const std::array whole{2.0, 5.0, 5.0};  // ratios 0.5, 0.4, 0.6
  const Interval ratio = ratio_interval({part, whole}, 7);
  CHECK(near(ratio.value, 0.5, 1e-12, 0));
  CHECK(ratio.low >= 0.4);
  CHECK(ratio.low < 0.5);
  CHECK(ratio.high <= 0.6);
  CHECK(ratio.high > 0.5);
  CHECK(ratio_interval({part, whole}, 7).low == ratio.low);
  const std::array nothing{0.0, 0.0, 0.0};
  CHECK(std::isnan(ratio_interval({part, nothing}, 7).value));
}

TEST_CASE("quantile: nearest rank") {
  const std::array sorted{10.0, 20.0, 30.0, 40.0};
  CHECK(quantile(sorted, 0.0) == 10);
  CHECK(quantile(sorted, 0.5) == 20);
  CHECK(quantile(sorted, 0.51) == 30);
  CHECK(quantile(sorted, 1.0) == 40);
  CHECK(std::isnan(quantile({}, 0.5)));
}

}  // namespace schedmate::study
