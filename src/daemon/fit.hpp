// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What the settings ask for, cut to what this cluster can do.

#include <schedmate/connector.hpp>
#include <string>
#include <vector>

#include "daemon/cluster.hpp"
#include "daemon/notices.hpp"
#include "live/loop.hpp"

namespace schedmate::daemon {

/// Where the cluster starts jobs itself nobody else does: SchedMate orders them, by default within
/// the span that is usual there. Modes of what
/// cannot be done are shadow from here on; gives which and why, in words, and what else it lacks.
[[nodiscard]] std::vector<std::string> fit_to(const Cluster& cluster, const Notices& notices,
                                              live::LoopOptions& options);

}  // namespace schedmate::daemon
