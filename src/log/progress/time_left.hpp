// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The time that a line says is left: "eta: 1 day, 2:03:04", "remaining: 3.2h", "[10:00<1:13:20".

#include <optional>
#include <string_view>

namespace schedmate::progress {

/// Seconds. Empty: the line does not say, or says when ("ETA 2023-04-25 04:01") and not how long.
[[nodiscard]] std::optional<double> printed_time_left(std::string_view line);

}  // namespace schedmate::progress
