// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "screen/screen.hpp"
#include "service/job.hpp"

namespace schedmate::screen {

/// One screen: at most 24 lines that fit. Where there is no screen, everything in lines as long as
/// they are.
[[nodiscard]] std::string job_text(const service::JobView& view, const ScreenStyle& style);

}  // namespace schedmate::screen
