// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "service/doctor.hpp"

namespace schedmate::service {

/// dcgm-exporter, Redis and the model servers of the settings: whether something answers there.
/// Nothing is written to any of them.
[[nodiscard]] std::vector<DoctorRow> examine_servers(const settings::Session& session);

}  // namespace schedmate::service
