// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What was submitted, of jobs whose command names no file (sbatch --wrap, a script on standard
/// input): the script that Slurm keeps. Text of users: data, never run.

#include <map>
#include <schedmate/connector.hpp>
#include <string>

#include "slurm_live/tools.hpp"

namespace schedmate::slurm_live {

class Scripts {
 public:
  explicit Scripts(Tools tools) : tools_(std::move(tools)) {}

  /// At most twenty a second are asked for: the call waits for its turn. Tasks of an array have one
  /// script, which is read once. Errors: not_found (it has none, or is gone), unsupported (too
  /// long, or no text), unavailable, timeout. For one thread.
  [[nodiscard]] Result<std::string> read(const SeenJob& job, Connector::Deadline within);

 private:
  Tools tools_;
  std::map<std::string, std::string> read_;  // by number and time of submission; the last ones
  std::chrono::nanoseconds next_{0};         // when the next one may be asked for
};

/// Of what `scontrol write batch_script` printed. Errors: as read().
[[nodiscard]] Result<std::string> script_in(std::string_view printed);

}  // namespace schedmate::slurm_live
