// SPDX-License-Identifier: Apache-2.0
#pragma once

/// `schedmate track`: how far a running job is, by its log.

#include "apps/session.hpp"

namespace schedmate {

struct TrackRequest {
  std::string log;
};

/// Errors: those of track().
[[nodiscard]] Result<void> track_command(const Session& session, const TrackRequest& request);

}  // namespace schedmate
