// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Programs that a program starts by a command of its own: os.system("bash run.sh 8 10").

#include "facts/scene.hpp"

namespace schedmate::facts {

/// What the calls that were seen would launch. Its words stand where the program puts the command
/// together: at the call.
[[nodiscard]] std::vector<command::Launch> started_by(tree::Tree& tree, const Scene& scene);

}  // namespace schedmate::facts
