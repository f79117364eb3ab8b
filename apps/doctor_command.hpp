// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apps/session.hpp"

namespace schedmate {

/// `schedmate doctor`: what works on this machine and what does not. False when something that a
/// command needs is missing.
[[nodiscard]] bool doctor_command(const Session& session);

}  // namespace schedmate
