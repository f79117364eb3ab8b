// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The process that has Slurm's library (module.hpp). Calls of the library may wait for long, and
/// end the process where the library sees no way on: so it has one of its own, which its parent
/// (library.hpp) can kill at any time.

#include <string>

namespace schedmate::slurm_live {

/// Loads the module and answers lines ("jobs SINCE", "nodes SINCE", "job NUMBER"; jobs_with_orders
/// and job_with_orders) on standard input
/// by frames (answer.hpp) there, until the other end is closed. The exit code of the program.
int serve_library(const std::string& module);

}  // namespace schedmate::slurm_live
