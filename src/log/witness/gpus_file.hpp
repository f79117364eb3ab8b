// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Readings of GPUs as documents.

#include <schedmate/gpu_state.hpp>
#include <string_view>

#include "base/document.hpp"

namespace schedmate::witness {

/// What gpus_json() writes.
[[nodiscard]] Document gpus_document(const GpuReading& reading);

/// As read_gpus_file(), of a text. Errors: invalid.
[[nodiscard]] Result<std::vector<GpuReading>> read_gpus_text(std::string_view text);

}  // namespace schedmate::witness
