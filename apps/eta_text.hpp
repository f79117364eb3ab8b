// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "apps/screen.hpp"
#include "service/eta.hpp"

namespace schedmate {

/// A line on the cluster, then the waiting jobs, first to start first (at most `most`, 0 = all),
/// and the running ones where `running` asks for them.
[[nodiscard]] std::string eta_text(const service::Eta& eta, const ScreenStyle& style,
                                   std::size_t most, bool running);

}  // namespace schedmate
