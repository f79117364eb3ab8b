// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apps/session.hpp"

namespace schedmate {

/// `schedmate config`: every setting with value, default, unit, origin and effect.
void config_command(const Session& session);

}  // namespace schedmate
