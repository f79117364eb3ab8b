// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Why one job waits, and what would start it earlier (docs/formats/why.md).

#include <string>
#include <vector>

#include "queue/eta.hpp"

namespace schedmate::queue {

struct Why {
  SimTime now;
  std::string cluster;  ///< as in Eta
  std::string policy;
  std::vector<std::string> site_settings;  ///< as of Eta
  std::int64_t samples = 0;
  std::int64_t calibrated_on = 0;  ///< as in Eta
  EtaJob job;

  /// Waiting jobs of its pool that start before it in most samples.
  struct Before {
    std::int64_t jobs = 0, users = 0, gpus = 0;
  };
  Before before;

  /// Jobs whose ends it waits for.
  struct Awaited {
    std::string id, user;
    std::int64_t gpus = 0;
    double share = 0;                     ///< of the samples
    std::optional<InstantQuantiles> end;  ///< nothing where the forecast does not have the job
  };
  std::vector<Awaited> awaited;

  /// Of the jobs before it and those that run in its pool: whose runs their run times are of, or
  /// whether the job's own log or advice tells them.
  struct RestsOn {
    std::int64_t of_job = 0, of_user = 0, of_site = 0;
    std::int64_t past_runs = 0;  ///< that are known in all
  };
  RestsOn rests_on;

  struct Change {
    Earlier what;
    std::string partition;  ///< of JobChange::pool
    std::string text;       ///< "4 GPUs instead of 8"
  };
  std::vector<Change> earlier;  ///< the one with the largest gain first
  std::vector<std::string> notes;
};

/// Of the job `request.job`. Errors: as forecast_of().
[[nodiscard]] Result<Why> why(const settings::Session& session, const EtaRequest& request);

/// `schedmate.why.v1`.
[[nodiscard]] Document why_document(const Why& why);

}  // namespace schedmate::queue
