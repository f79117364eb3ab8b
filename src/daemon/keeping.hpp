// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "daemon/kept_lives.hpp"
#include "daemon/kept_uses.hpp"

namespace schedmate::daemon {

/// Writes what was measured of jobs, as far as that goes; by any thread.
[[nodiscard]] inline std::function<void()> keeping(const Probes& probes, const live::Lives& lives,
                                                   const std::string& folder) {
  return [uses = probes.kept(), measured = measured_lives(lives), folder] {
    (void)keep_uses(uses, folder);
    (void)keep_lives(measured, folder);
  };
}

}  // namespace schedmate::daemon
