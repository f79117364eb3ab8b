// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Readings of GPUs as documents.

#include <schedmate/witness.hpp>
#include <string_view>

namespace schedmate {

/// As read_gpus_file(), of a text. Errors: invalid.
[[nodiscard]] Result<std::vector<GpuReading>> read_gpus_text(std::string_view text);

}  // namespace schedmate
