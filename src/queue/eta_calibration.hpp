// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Forecasts of a site's own past, kept in the store, that later forecasts are held against.

#include <schedmate/eta_calibration.hpp>

#include "queue/eta.hpp"

namespace schedmate::queue {

struct EtaCalibrationRequest {
  EtaRequest of;
  std::int64_t days = 28;  ///< of the past
  std::int64_t instants = 200;
};

struct EtaCalibrationFigures {
  std::string cluster;  ///< as in Eta
  std::string policy;
  SimTime since, until;
  std::int64_t instants = 0;
  struct OfKind {
    ForecastKind kind = ForecastKind::start;
    std::int64_t forecasts = 0;
    std::int64_t judged = 0;  ///< of the later half, those that have happened
    /// Of the judged, shares that happened by the instant told for each of quantile_shares; as the
    /// samples told it, and with the earlier half as calibration.
    Spans told{}, calibrated{};
  };
  std::vector<OfKind> kinds;
  std::vector<std::string> notes;
};

/// Makes the forecasts, which takes minutes, and keeps them. Errors: as forecast_of(); invalid
/// where no forecast could be made; those of the store.
[[nodiscard]] Result<EtaCalibrationFigures> calibrate_eta(const settings::Session& session,
                                                          const EtaCalibrationRequest& request);

/// `schedmate.eta_calibration.v1` (docs/formats/eta.md).
[[nodiscard]] Document eta_calibration_document(const EtaCalibrationFigures& figures);

struct KeptCalibration {
  EtaCalibration calibration;
  std::int64_t forecasts = 0;
};
/// Under which it is kept: each trace, and each cluster of this name ("" = none is said), has one
/// for each policy.
[[nodiscard]] std::string calibration_key(const EtaRequest& request, const std::string& cluster,
                                          const std::string& policy);
/// What was kept under this key, unless it knows of times after `now`. Errors: those of the store;
/// invalid for one that cannot be read.
[[nodiscard]] Result<std::optional<KeptCalibration>> kept_calibration(
    const settings::Session& session, const std::string& key, SimTime now);

}  // namespace schedmate::queue
