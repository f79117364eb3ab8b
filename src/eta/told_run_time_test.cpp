// SPDX-License-Identifier: Apache-2.0
#include "eta/told_run_time.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <initializer_list>

#include "tests/support/near.hpp"

namespace schedmate::eta {
namespace {

RunTimeDistribution hours(double p10, double p50, double p90) {
  return {.mean = FractionalSeconds(3600 * p50),
          .p10 = FractionalSeconds(3600 * p10),
          .p50 = FractionalSeconds(3600 * p50),
          .p90 = FractionalSeconds(3600 * p90)};
}

/// Within a bin.
bool at(double have, double wanted) {
  return std::abs(RunTimeCurve::place_of(have) - RunTimeCurve::place_of(wanted)) <= 1;
}

}  // namespace

TEST_CASE("the curve of a distribution has its quantiles") {
  for (const RunTimeDistribution& told :
       {hours(1, 2, 8), hours(0.01, 0.1, 40), hours(5, 5, 5), hours(1, 1, 30), hours(0, 0.5, 1),
        hours(0, 0, 0), hours(300, 900, 2000)}) {
    CAPTURE(told.p50.count());
    const RunTimeCurve curve = curve_of(told);
    CHECK(at(curve.draw(0.1, 0), told.p10.count()));
    CHECK(at(curve.draw(0.5, 0), told.p50.count()));
    CHECK(at(curve.draw(0.9, 0), told.p90.count()));
  }
  // Quantiles that contradict each other are none that anything hangs on.
  CHECK(curve_of(hours(9, 1, 0.1)).draw(0.5, 0) > 0);
}

TEST_CASE("who has run so long already goes on by the same law") {
  const RunTimeDistribution told = hours(1, 2, 8);
  const RunTimeCurve curve = curve_of(told);
  // Of those that outlast the median, four in five end by p90.
  const double ran = told.p50.count();
  CHECK(at(curve.draw(0.8, ran), told.p90.count()));
  CHECK(testing::near(curve.share_beyond(told.p90.count(), ran), 0.2, 0.05, 0));
  CHECK(curve.share_beyond(ran, ran) == 1);
  // Far beyond p90 it goes on in proportion, and neither ends at once nor never.
  const double far = 10 * told.p90.count();
  CHECK(curve.draw(0.5, far) > 1.1 * far);
  CHECK(curve.draw(0.5, far) < 3 * far);
}

TEST_CASE("a log tells what is left, to the minute after days, and hardly less than it says") {
  const RunTimeCurve past = curve_of(hours(24, 72, 200));
  constexpr double ran = 100 * 3600;
  constexpr double left = 1800;
  const RunTimeBelief belief = with_progress(past, {.ran_s = ran, .left_s = left});
  const auto left_at = [&](double share) { return belief.draw(share, ran) - ran; };
  CHECK(left_at(0.5) > left);
  CHECK(left_at(0.5) < 2 * left);
  // Those that end earlier are fewer than one in five, as few as end within half an hour anyhow.
  CHECK(left_at(0.05) > 0.9 * left);
  CHECK(left_at(0.7) < left + 0.05 * ran);
  CHECK(left_at(0.99) > 10 * left);
  // Ten minutes later there is less left of it.
  const double later = ran + 600;
  CHECK(testing::near(belief.draw(0.5, later) - later, left_at(0.5) - 600, 0.1, 0));
  // Where the past ends runs at about this time, some of them end before the log says.
  const RunTimeBelief stopped =
      with_progress(curve_of(hours(99, 100.1, 101)), {.ran_s = ran, .left_s = 100 * left});
  CHECK(stopped.draw(0.1, ran) - ran < 10 * left);
  CHECK(stopped.draw(0.5, ran) - ran > 95 * left);
  // Nothing is left of the work, and the job has still to end.
  const RunTimeBelief done = with_progress(past, {.ran_s = ran, .left_s = 0});
  CHECK(done.draw(0.5, ran) > ran);
  CHECK(done.draw(0.5, ran) < ran + 3600);
  // A limit ends it before.
  CHECK(belief.draw(0.5, ran, ran + 60) <= ran + 60);
}

}  // namespace schedmate::eta
