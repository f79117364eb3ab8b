// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Why Slurm says that a job waits, in plain words.

#include <string>
#include <string_view>

namespace schedmate::slurm {

enum class Waits : std::uint8_t {
  for_its_turn,  ///< for GPUs or for jobs of higher priority: the queue tells when it starts
  for_a_time,    ///< for its begin time
  kept_out,      ///< for a person, another job or a limit: the queue does not tell
};

struct WaitReason {
  Waits waits = Waits::for_its_turn;
  std::string kind;  ///< held, dependency, qos_limit, account_limit, partition, nodes, time, ...
  std::string text;
};

/// `reason` as squeue prints it ("QOSMaxGRESPerUser"), with "" for none yet. What is not known
/// keeps the job out, and its own word is the text.
[[nodiscard]] WaitReason reason_in_words(std::string_view reason, std::string_view dependency);

}  // namespace schedmate::slurm
