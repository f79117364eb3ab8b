// SPDX-License-Identifier: Apache-2.0
#pragma once

/// NVIDIA's management library, opened when it is asked and never linked. Each function is looked
/// up by itself: what an old library lacks is not known, and the rest is read all the same.

#include <schedmate/gpu_state.hpp>
#include <string>

namespace schedmate::witness {

/// In this process; read_gpus() is the same in a child. `path` as dlopen takes it.
[[nodiscard]] GpuReading read_nvml(const std::string& path);

}  // namespace schedmate::witness
