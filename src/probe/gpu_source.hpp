// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Where samples of GPUs come from: NVIDIA's library, a file that stands for it, a dcgm-exporter.
/// What cannot be read is a sample that says why.

#include <chrono>
#include <functional>
#include <string>

#include "probe/report.hpp"

namespace schedmate::probe {

/// The present state; `at_s` is the time of the sample.
using GpuSource = std::function<Sample(std::int64_t at_s)>;

/// Asks the library (as dlopen takes it) in a child that is kept: a driver that hangs costs no more
/// than the deadline, and is asked again by another child, each time after a longer pause. Links
/// between GPUs are read by the first sample and each sixth.
[[nodiscard]] GpuSource nvml_source(const std::string& library, std::chrono::milliseconds deadline);

/// The last schedmate.gpus.v1 document of a file that may grow by lines, be rotated or cut.
[[nodiscard]] GpuSource file_source(const std::string& path);

/// http://HOST:PORT/metrics.
[[nodiscard]] GpuSource dcgm_source(const std::string& url, std::chrono::milliseconds deadline);

}  // namespace schedmate::probe
