// SPDX-License-Identifier: Apache-2.0
#pragma once

/// `schedmate track`: how far a running job is, by its logs.

#include <vector>

#include "settings/session.hpp"

namespace schedmate {

struct TrackRequest {
  std::vector<std::string> logs;  ///< of the job's ranks
  bool follow = false;
  double every_s = 2;  ///< between looks at a followed log
  double for_s = -1;   ///< how long to follow; negative: until it is interrupted
};

/// Errors: those of track().
[[nodiscard]] Result<void> run_track(const Session& session, const TrackRequest& request);

}  // namespace schedmate
