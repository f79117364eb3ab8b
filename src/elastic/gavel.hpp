// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Gavel (OSDI 2020) as the study of Sia ran it: most steps a second in sum, by a
/// linear program over shares of time, which rounds then hand out by priority; what is left goes to
/// whoever fits. Steps are not weighed by batch or length, so jobs with short steps come first. The
/// true speeds are read from the tables (an oracle). Ours: jobs of one kind have equal shares (as
/// an interior-point solver gives them); types too small for a job have no share; a job that comes
/// after nobody was there does not wait.

#include <cstdint>
#include <span>
#include <vector>

#include "elastic/rounds.hpp"

namespace schedmate::elastic {

struct GavelOptions {
  double round_s = 360;  ///< between decisions, as in that study
  /// Of equal claims that of who holds the type goes first. Not so in the study: there jobs that
  /// share what is left over displace each other by order of submission, and pay the restarts.
  bool keep_type = false;
  std::uint64_t ties = 0;  ///< equal claims are distinguished by this seed; 0 = by order
};

/// In between decisions nothing changes: GPUs of jobs that end stay free, jobs that come wait.
[[nodiscard]] ElasticPolicy gavel_policy(const GavelOptions& options);

/// Jobs of one application that asked for the same GPUs and batch.
struct GavelKind {
  std::int32_t jobs = 1;
  std::int32_t gpus = 1;            ///< of each job
  std::vector<double> steps_per_s;  ///< of each job, by GPU type; 0 where it can't run
};

/// Share of the time that each job of a kind should spend on a type, kind after kind: the sum of
/// steps a second is as large as `capacity`, GPUs by type, allows.
[[nodiscard]] std::vector<double> gavel_shares(std::span<const GavelKind> kinds,
                                               std::span<const std::int32_t> capacity);

}  // namespace schedmate::elastic
