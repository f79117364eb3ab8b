// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What jobs made of their GPUs over a restart: `uses.json` in the state folder. No intent: what a
/// kill leaves out are the samples of the last minute.

#include <string>

#include "daemon/probes.hpp"

namespace schedmate::daemon {

/// A file that is not there, or is damaged, holds nothing.
void restore_uses(Probes& probes, const std::string& state_dir);
/// Errors: unavailable; what is there stays.
Result<void> keep_uses(const Document& kept, const std::string& state_dir);

}  // namespace schedmate::daemon
