// SPDX-License-Identifier: Apache-2.0
#include "eta/told_run_time.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace schedmate::eta {
namespace {

constexpr double least_s = 1;
constexpr double narrowest = 0.01;               // of a side, in log(run time): less than a bin
constexpr double log_odds = 2.1972245773362196;  // ln 9: of p90, and less of p10

/// Which share is above `t`, with the quantiles as far apart as the law is on that side.
double log_logistic_beyond(double t, double p50, double spread) {
  if (!(t > 0)) return 1;
  return 1 / (1 + std::exp(std::log(t / p50) / std::max(narrowest, spread / log_odds)));
}

/// From which share is longer than each instant.
template <class Beyond>
RunTimeCurve curve_from(const Beyond& beyond) {
  RunTimeCurve::Chances chances{};
  double here = 1;
  for (std::size_t bin = 0; bin < RunTimeCurve::bins; ++bin) {
    const double next = beyond(RunTimeCurve::seconds_at(static_cast<double>(bin + 1)));
    chances[bin] = static_cast<float>(here > 0 ? 1 - next / here : 1);
    here = next;
  }
  return RunTimeCurve(chances);
}

// How the ends of logs compared with what their trackers had told (docs/eta.md).
constexpr double ends_as_told = 0.8;
/// By how much a run is over what is told: a share of that, and one of the whole run up to a bound.
struct Over {
  double of_left, of_run, most_s;
  [[nodiscard]] double seconds(double left, double run) const {
    return of_left * left + std::min(of_run * run, most_s);
  }
};
constexpr Over median_over{0.02, 0.01, 300}, p90_over{0.35, 0.15, 3600};

}  // namespace

RunTimeCurve curve_of(const RunTimeDistribution& told) {
  const double p10 = std::max(least_s, told.p10.count());
  const double p50 = std::max(p10, told.p50.count());
  const double p90 = std::max(p50, told.p90.count());
  return curve_from([&](double t) {
    return log_logistic_beyond(t, p50, std::log(t < p50 ? p50 / p10 : p90 / p50));
  });
}

RunTimeBelief with_progress(const RunTimeCurve& past, const ToldProgress& told) {
  const double left = std::max(0.0, told.left_s);
  const double run = told.ran_s + left;
  const double over = std::max(least_s, median_over.seconds(left, run));
  const double far_over = std::max(over, p90_over.seconds(left, run));
  const auto beyond = [&](double t) {
    const double as_told = log_logistic_beyond(t - left, over, std::log(far_over / over));
    const double as_past = past.share_beyond(told.ran_s + t, told.ran_s);
    return ends_as_told * as_told + (1 - ends_as_told) * as_past;
  };
  return {.curve = std::make_shared<const RunTimeCurve>(curve_from(beyond)),
          .known_s = {},
          .after_s = told.ran_s};
}

}  // namespace schedmate::eta
