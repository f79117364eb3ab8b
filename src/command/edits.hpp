// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Commands that change files before the program starts.

#include "command/shell.hpp"

namespace schedmate::command {

void run_sed(Shell& shell, const Arguments& argv);  ///< -i in place, otherwise as a filter
void run_copy(Shell& shell, const Arguments& argv);
void run_tee(Shell& shell, const Arguments& argv);

}  // namespace schedmate::command
