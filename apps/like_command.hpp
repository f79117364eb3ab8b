// SPDX-License-Identifier: Apache-2.0
#pragma once

/// `schedmate generate --like`: docs/formats/generate.md.

#include <schedmate/result.hpp>

#include "apps/generate_command.hpp"

namespace schedmate {

/// Writes OUT/jobs.csv and OUT/cluster.toml and prints the check. False when it does not hold.
[[nodiscard]] Result<bool> generate_like(const Session& session, const GenerateRequest& request);

}  // namespace schedmate
