// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <schedmate/eta_calibration.hpp>

#include "eta/log_span.hpp"

namespace schedmate {
namespace {

constexpr std::size_t most = 3000, least = 30;
using eta::beyond_s, eta::log_span;

/// How much alike two forecasts are, in logs: what they told, how sure they were, and how long the
/// jobs had waited or run. Pool, size and length of the queue add nothing (docs/decisions/0025).
constexpr double median_scale = 0.5, width_scale = 1, so_far_scale = 1;
/// Of one that is not alike at all, so that the tails never rest on nothing.
constexpr double unlike = 1e-3;
/// Of a forecast that was right, so that few others do not decide alone.
constexpr double was_right = 0.1;

/// Instants of forecasts that are as good as the same share what is looked up.
double rounded(double log_seconds) {
  constexpr double step = 0.1;
  return step * std::round(log_seconds / step);
}

}  // namespace

std::vector<PastForecast> forecasts_that_count(std::span<const PastForecast> past) {
  std::array<std::size_t, forecast_kinds> counts{};
  for (const PastForecast& each : past) ++counts[static_cast<std::size_t>(each.kind)];
  std::array<std::size_t, forecast_kinds> seen{};
  std::vector<PastForecast> made;
  for (const PastForecast& each : past) {
    const auto of = static_cast<std::size_t>(each.kind);
    const std::size_t at = seen[of]++;
    if (counts[of] <= most || at * most / counts[of] != (at + 1) * most / counts[of])
      made.push_back(each);
  }
  return made;
}

EtaCalibration::EtaCalibration(std::span<const PastForecast> past) {
  const std::vector<PastForecast> counting = forecasts_that_count(past);
  std::map<std::pair<ForecastKind, std::uint64_t>, double> crowds;
  for (const PastForecast& each : counting) crowds[{each.kind, each.crowd}] += 1;
  for (const PastForecast& each : counting) {
    Known& made = of_kind_[static_cast<std::size_t>(each.kind)].known.emplace_back();
    made.median = log_span(each.told[each.told.size() / 2]);
    made.width = log_span(each.told.back()) - log_span(each.told.front());
    made.so_far = log_span(each.so_far_s);
    made.happened = each.happened;
    made.weight = each.crowd == 0 ? 1 : 1 / std::sqrt(crowds.at({each.kind, each.crowd}));
    for (std::size_t i = 0; i < made.off.size(); ++i)
      made.off[i] = log_span(each.then_s) - log_span(each.told[i]);
  }
  for (std::size_t of = 0; of < forecast_kinds; ++of) {
    Kind& kind = of_kind_[of];
    if (kind.known.empty()) continue;
    kind.known.emplace_back();
    for (std::size_t i = 0; i < kind.order.size(); ++i) {
      kind.order[i].resize(kind.known.size());
      std::iota(kind.order[i].begin(), kind.order[i].end(), 0U);
      std::ranges::stable_sort(kind.order[i], {},
                               [&](std::uint32_t k) { return kind.known[k].off[i]; });
    }
  }
}

Spans EtaCalibration::calibrated(ForecastKind kind, double so_far_s, const Spans& told) const {
  const Kind& of = of_kind_[static_cast<std::size_t>(kind)];
  if (of.size() < least) return told;
  const double median = rounded(log_span(told[told.size() / 2]));
  const double width = rounded(log_span(told.back()) - log_span(told.front()));
  const double so_far = rounded(log_span(so_far_s));
  std::vector<double> weights;
  for (const Known& each : of.known) {
    const double unlikeness = std::abs(each.median - median) / median_scale +
                              std::abs(each.width - width) / width_scale +
                              std::abs(each.so_far - so_far) / so_far_scale;
    weights.push_back((std::exp(-unlikeness) + unlike) * each.weight);
  }
  weights.back() = was_right;
  const double all = std::reduce(weights.begin(), weights.end());
  Spans made{};
  for (std::size_t i = 0; i < told.size(); ++i) {
    // Kaplan-Meier: what has not happened yet is off by at least that much.
    double left = 1, at_risk = all, off = 0;
    for (const std::uint32_t k : of.order[i]) {
      off = of.known[k].off[i];
      if (of.known[k].happened) left *= 1 - std::min(1.0, weights[k] / at_risk);
      if (left <= 1 - quantile_shares[i]) break;
      at_risk -= weights[k];
    }
    constexpr double minute = 60;
    made[i] = std::clamp(std::exp(log_span(told[i]) + off) - minute, 0.0, beyond_s);
  }
  std::ranges::sort(made);
  return made;
}

Spans spans_of(const InstantQuantiles& instants, SimTime now) {
  Spans spans{};
  for (std::size_t i = 0; i < spans.size(); ++i) {
    const SimTime when = instants.*instants_of_shares[i];
    spans[i] = when == never ? beyond_s : std::max(0.0, FractionalSeconds(when - now).count());
  }
  return spans;
}

void calibrate(QueueForecast& forecast, const QueueSnapshot& snapshot,
               const EtaCalibration& calibration) {
  using Like = std::tuple<ForecastKind, double, Spans>;
  std::map<Like, Spans> known;  // jobs that are told the same stand together
  constexpr std::size_t enough = 4096;
  const auto move = [&](ForecastKind kind, double so_far_s, InstantQuantiles& instants) {
    const Spans told = spans_of(instants, snapshot.now);
    if (known.size() >= enough) known.clear();
    const auto [found, fresh] = known.try_emplace({kind, rounded(log_span(so_far_s)), told});
    if (fresh) found->second = calibration.calibrated(kind, so_far_s, told);
    for (std::size_t i = 0; i < told.size(); ++i) {
      SimTime& when = instants.*instants_of_shares[i];
      if (when != never) when = snapshot.now + Seconds(std::llround(found->second[i]));
    }
  };
  for (std::size_t i = 0; i < forecast.jobs.size(); ++i) {
    const SnapshotJob& job = snapshot.jobs[i];
    JobForecast& made = forecast.jobs[i];
    const double so_far_s =
        FractionalSeconds(snapshot.now - job.started.value_or(job.waits_since.value_or(job.submit)))
            .count();
    if (made.start) move(ForecastKind::start, so_far_s, *made.start);
    move(job.started ? ForecastKind::end_of_running : ForecastKind::end_of_waiting, so_far_s,
         made.end);
    if (!made.start) continue;
    // The two are off each by its own.
    for (const auto at : instants_of_shares)
      made.end.*at = std::max(made.end.*at, (*made.start).*at);
  }
}

}  // namespace schedmate
