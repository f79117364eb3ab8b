// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What NVIDIA's dcgm-exporter serves, as a sample.

#include <schedmate/result.hpp>
#include <string_view>

#include "probe/report.hpp"

namespace schedmate::probe {

/// Prometheus text with DCGM's fields of GPUs; parts of a GPU (MIG) are left out, as are labels
/// other than index and address. Errors: invalid (no field of any GPU).
[[nodiscard]] Result<Sample> read_dcgm(std::string_view text, std::int64_t at_s);

}  // namespace schedmate::probe
