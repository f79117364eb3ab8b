// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <schedmate/progress.hpp>

#include "service/log_models.hpp"

namespace schedmate::service {

/// How far a job is, by its logs; evidence is printable and without secrets.
struct TrackAnswer {
  Progress progress;
  std::vector<std::string> notes;     ///< on what the models said and what was left out
  std::vector<std::string> left_out;  ///< what the budget of a reading left out of the logs
  ModelCost cost;
};

struct TrackRequest {
  std::vector<std::string> logs;  ///< one for each rank
  std::string min_confidence{};   ///< 0 to 1, or "auto"; "" = no cut
};
/// Errors: those of schedmate::track() and confidence_bound().
[[nodiscard]] Result<TrackAnswer> track(const settings::Session& session,
                                        const TrackRequest& request);

struct FollowRequest {
  std::string log;
  double every_s = 2;  ///< between looks at it
  double for_s = -1;   ///< how long; negative: until `show` has enough
  std::string min_confidence{};
};
/// An answer whenever the log has grown, until `show` says false. Sleeps in between, by the
/// session's clock. Errors: as track().
[[nodiscard]] Result<void> follow(const settings::Session& session, const FollowRequest& request,
                                  const std::function<bool(const TrackAnswer&)>& show);

/// schedmate.progress.v1.
[[nodiscard]] Document track_document(const TrackAnswer& answer);

}  // namespace schedmate::service
