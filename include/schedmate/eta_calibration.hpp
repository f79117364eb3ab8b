// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What earlier forecasts of starts and ends say of the next one: how far off such forecasts were,
/// those of alike waits most, is added to what it told (docs/eta.md; split conformal prediction,
/// localized as by Guan 2023, with what has not happened yet as censored as by Candes, Lei and Ren
/// 2023). Values in, values out; const calls from several threads.

#include <array>
#include <cstdint>
#include <schedmate/eta.hpp>
#include <span>
#include <vector>

namespace schedmate {

enum class ForecastKind : std::uint8_t { start, end_of_running, end_of_waiting };
constexpr std::size_t forecast_kinds = 3;

/// Seconds from the instant of the forecast, at each of quantile_shares.
using Spans = std::array<double, quantile_shares.size()>;

/// A forecast, and what came of it.
struct PastForecast {
  ForecastKind kind = ForecastKind::start;
  /// How long it had waited or run by then, seconds.
  double so_far_s = 0;
  Spans told{};
  /// From the forecast until it happened, seconds; or for how long it has not.
  double then_s = 0;
  bool happened = false;
  /// Equal for those of one pool and day, which are off together: many count as the root of their
  /// number. 0: alone.
  std::uint64_t crowd = 0;
};

/// Those that a calibration looks at, in their order: of each kind at most 3,000, of more such as
/// are spread evenly. Of these alone it is the same.
[[nodiscard]] std::vector<PastForecast> forecasts_that_count(std::span<const PastForecast> past);

class EtaCalibration {
 public:
  explicit EtaCalibration(std::span<const PastForecast> past);

  /// Rising. With fewer than 30 of its kind, as told.
  [[nodiscard]] Spans calibrated(ForecastKind kind, double so_far_s, const Spans& told) const;
  /// How many count.
  [[nodiscard]] std::size_t size(ForecastKind kind) const {
    return of_kind_[static_cast<std::size_t>(kind)].size();
  }

 private:
  /// Logs of spans with a minute added, of which differences are alike for short and long ones.
  struct Known {
    double median = 0, width = 0, so_far = 0;
    Spans off{};
    bool happened = true;
    double weight = 1;
  };
  struct Kind {
    std::vector<Known> known;  // and behind them one that was right
    /// Indices into `known`, by how far off they are at each share.
    std::array<std::vector<std::uint32_t>, quantile_shares.size()> order;
    [[nodiscard]] std::size_t size() const { return known.empty() ? 0 : known.size() - 1; }
  };
  std::array<Kind, forecast_kinds> of_kind_;
};

/// The instants of a forecast, from the snapshot's `now`; `never` stays what it is, and no end
/// comes before its start.
void calibrate(QueueForecast& forecast, const QueueSnapshot& snapshot,
               const EtaCalibration& calibration);

/// Those of an instant before `now` or at `never`, that lie beyond a forecast's horizon.
[[nodiscard]] Spans spans_of(const InstantQuantiles& instants, SimTime now);

}  // namespace schedmate
