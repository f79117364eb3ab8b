// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What the job asks its scheduler for: by our own flags, by the submission in its command, or by
/// what its launcher starts.

#include "facts/finding.hpp"

namespace schedmate::facts {

/// `job` with the GPUs and nodes that hold for this program where the caller did not say them.
[[nodiscard]] JobSource with_request(JobSource job, const command::Launch& launch);

struct RequestSources {
  const JobSource& job;  ///< as the caller said it
  const command::Commands& commands;
  const command::Launch* launch = nullptr;  ///< of the program that trains; nullptr = none
};
/// gpus, nodes, gpu_type; partition, time_limit_s and the like go to `facts.extra`. What
/// contradicts the caller is noted in the tree.
void find_request(tree::Tree& tree, const RequestSources& sources, Facts& facts);

}  // namespace schedmate::facts
