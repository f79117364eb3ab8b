// SPDX-License-Identifier: Apache-2.0
#pragma once

/// How busy GPUs are, beside what is wrong with them (schedmate/gpu_state.hpp).

#include <cstdint>
#include <optional>
#include <schedmate/gpu_state.hpp>
#include <string_view>
#include <vector>

#include "base/document.hpp"

namespace schedmate::witness {

/// One GPU. An empty field is not known, never a zero.
struct GpuLoad {
  std::optional<double> gpu_pct, memory_busy_pct;  ///< of the last second or less
  std::optional<double> memory_used_mib, memory_total_mib;
  std::optional<double> temperature_c, power_w, clock_mhz;
  /// Why its clocks are not higher: NVML's bits, 0 = no reason.
  std::optional<std::uint64_t> throttle;
  std::optional<std::uint64_t> ecc_corrected;  ///< since the driver was loaded
};

struct LoadedGpus {
  GpuReading reading;
  std::vector<GpuLoad> loads;  ///< one for each GPU of the reading
};

/// schedmate.gpus.v1 with a `load` of each GPU; and back, the last one of a list. Errors: invalid.
[[nodiscard]] Document loaded_gpus_document(const LoadedGpus& gpus);
[[nodiscard]] Result<LoadedGpus> read_loaded_gpus(std::string_view text);

}  // namespace schedmate::witness
