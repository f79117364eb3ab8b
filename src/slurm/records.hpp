// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What Slurm's tools print of a cluster, one output after the other: text of scontrol, and
/// documents of JSON, each from the beginning of a line on.

#include <schedmate/result.hpp>

#include "slurm/shown.hpp"

namespace schedmate::slurm {

/// In their order. Errors: as read_json(); invalid for a text without any, which says what it seems
/// to be.
[[nodiscard]] Result<std::vector<ShownRecord>> read_records(std::string_view whole);

}  // namespace schedmate::slurm
