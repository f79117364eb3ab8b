// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "queue/eta_calibration.hpp"
#include "screen/screen.hpp"

namespace schedmate::screen {

/// A line on the cluster, then the waiting jobs, first to start first (at most `most`, 0 = all),
/// and the running ones where `running` asks for them.
[[nodiscard]] std::string eta_text(const queue::Eta& eta, const ScreenStyle& style,
                                   std::size_t most, bool running);

/// How often what was told came true, before and after calibration.
[[nodiscard]] std::string eta_calibration_text(const queue::EtaCalibrationFigures& figures,
                                               const ScreenStyle& style);

/// "2 h 13 min (40 min to 5 h)", from the snapshot's instant.
[[nodiscard]] std::string span_text(const InstantQuantiles& told, SimTime now);

/// Its name alone where its settings are the site's.
[[nodiscard]] std::string policy_of_queue(const std::string& policy, bool of_site);

}  // namespace schedmate::screen
