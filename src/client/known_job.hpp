// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What a daemon's document of a job says, as the values that a log's reader gives.

#include <optional>
#include <schedmate/diagnosis.hpp>
#include <schedmate/progress.hpp>

#include "base/document.hpp"

namespace schedmate::client {

/// Of its `progress` and `diagnosis`; nothing where the daemon knows none. What is of another type
/// than expected is not known.
[[nodiscard]] std::optional<Progress> progress_of(const Document& job);
[[nodiscard]] std::optional<Diagnosis> diagnosis_of(const Document& job);

}  // namespace schedmate::client
