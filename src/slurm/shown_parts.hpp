// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What single values of Slurm's records mean: ids, states, and GPUs.

#include <schedmate/result.hpp>

#include "slurm/queue.hpp"
#include "slurm/shown.hpp"

namespace schedmate::slurm {

inline constexpr int most_gpus_of_node = 64;

/// ClusterQueue::settings of `scontrol show config`.
[[nodiscard]] std::map<std::string, std::string, std::less<>> settings_in(const Shown& config);

/// "12", "12_3"; of several tasks "12_[0-3%1]".
[[nodiscard]] std::string id_of(const Shown& job);
/// The tasks that such a list names, the first `most` of them.
[[nodiscard]] std::vector<std::int64_t> tasks_in(std::string_view list, std::size_t most);

/// Of a job's state, in one word.
[[nodiscard]] bool has_ended(std::string_view state);
/// Of a node's, as "IDLE+DRAIN*".
[[nodiscard]] bool has_word(std::string_view state, std::string_view word);

/// The GPUs of a list of resources. Errors: invalid (it names some, but not how many).
[[nodiscard]] Result<std::int64_t> gpus_in(std::string_view tres);
/// Of "gpu:fake:4(IDX:0-1,3),shard:2(IDX:0)" the GPUs; 0 where they are not all said.
[[nodiscard]] std::uint64_t gpus_by_index(std::string_view gres);
/// Of a job that is to have so many nodes. A site that does not account for GPUs has none among the
/// TRES. Errors: as gpus_in().
[[nodiscard]] Result<std::int64_t> gpus_asked_for(const Shown& job, std::int64_t nodes);
/// Of a job that runs and asked for so many; from "Nodes=n[0-1] CPU_IDs=0 Mem=100
/// GRES=gpu:a100:4(IDX:0-3)", else evenly over NodeList. Errors: invalid.
[[nodiscard]] Result<std::vector<HeldNode>> held_by(const Shown& job, std::int64_t gpus);

}  // namespace schedmate::slurm
