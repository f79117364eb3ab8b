// SPDX-License-Identifier: Apache-2.0
#pragma once

/// How the program spreads over its GPUs.

#include "facts/finding.hpp"

namespace schedmate::facts {

/// GPUs that one process drives: all of the node under DataParallel, MirroredStrategy or
/// multi_gpu_model, else 1. What a program calls its batch size is shared by them.
[[nodiscard]] double devices_per_process(const Scene& scene);

/// The launcher starts one process for each GPU: what a program does for a process of several GPUs
/// is not what happens then.
[[nodiscard]] bool has_process_per_device(const Scene& scene);

/// `torchrun --nproc_per_node=1`, whatever the job asks for.
[[nodiscard]] bool is_started_as_one_process(const Scene& scene);

/// The call that splits a batch over the devices of one process; nullptr when there is none.
[[nodiscard]] const python::Call* single_process_split(const Scene& scene);

}  // namespace schedmate::facts
