// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What a submission asks of Slurm: options by their long names, merged as Slurm merges them, and
/// the GPUs, nodes, tasks, CPUs, memory and time that follow from them.

#include "command/command.hpp"

namespace schedmate::command {

/// One option that counts for a request.
struct SlurmOption {
  std::string_view names;  ///< the long one, and the short one
  /// Variables that give it. "*GPUS" is SBATCH_GPUS, SALLOC_GPUS or SLURM_GPUS, by the program; a
  /// name without '*' is one of srun.
  std::string_view inputs;
  std::string_view outputs = {};  ///< variables that the job finds it in
};
[[nodiscard]] std::span<const SlurmOption> request_options();
/// "N" -> the row of "nodes"; a long name may be cut short. nullptr for an option that does not
/// count here.
[[nodiscard]] const SlurmOption* find_slurm_option(std::string_view name);
[[nodiscard]] std::string_view long_name(const SlurmOption& option);

/// By long name. The last one of a source wins, and later sources replace earlier ones.
using SlurmOptions = std::map<std::string_view, Word>;

struct Submitted {
  std::string by;  ///< sbatch, salloc, srun
  PlacePtr place;
  std::vector<SlurmOptions> components{1};  ///< several in a heterogeneous job
};
[[nodiscard]] Request request_of(const Submitted& submitted);

}  // namespace schedmate::command
