// SPDX-License-Identifier: Apache-2.0
#pragma once

/// `schedmate generate`: docs/formats/generate.md.

#include <cstdint>
#include <limits>
#include <schedmate/result.hpp>
#include <string>

#include "settings/session.hpp"

namespace schedmate {

struct GenerateRequest {
  std::string from;  ///< "venus" or "FORMAT:PATH"
  std::int64_t jobs = 0;
  std::int64_t gpus = 0;
  std::int64_t most_gpus = 0;  ///< of a job, with `like`; 0: all there are
  double load = std::numeric_limits<double>::quiet_NaN();  ///< NaN: not given
  std::string cluster;  ///< of the source: TOML file, "" = the trace's own
  std::string out;
  std::string elastic;  ///< parameters of elastic tables (TOML); "": a trace is made
  std::string like;     ///< "acme-seren", ... or a TOML file; "": resample `from`
  double days = std::numeric_limits<double>::quiet_NaN();  ///< with `like`; NaN: not given
};

/// Writes OUT/jobs.csv and OUT/cluster.toml. False when the trace is written but a drawn statistic
/// is more than 10 % off the published one. Errors: for the exit code.
[[nodiscard]] Result<bool> run_generate(const Session& session, const GenerateRequest& request);

}  // namespace schedmate
