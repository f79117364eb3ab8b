// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Sockets of this machine by their path.

#include <schedmate/result.hpp>
#include <string>

#include "base/descriptor.hpp"

namespace schedmate {

/// Waits for nobody. Errors: invalid (no path of a socket), unavailable, timeout (somebody listens
/// there, but does not hear).
[[nodiscard]] Result<Descriptor> connect_to(const std::string& path);
/// In the place of a socket that was left behind. Errors: invalid, conflict (somebody listens
/// there, or a file is there that is no socket), unavailable.
[[nodiscard]] Result<Descriptor> listen_on(const std::string& path);

}  // namespace schedmate
