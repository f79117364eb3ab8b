// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What the journal holds for a loop that begins.

#include "journal/journal.hpp"
#include "live/loop_options.hpp"

namespace schedmate::daemon {

/// Where Past::kept has the name of this instance. It was drawn once for this journal, so that
/// another daemon's marks are never taken for own ones.
inline constexpr const char* instance_key = "instance";

/// Draws that name where there is none yet. Errors: those of the journal; unavailable.
[[nodiscard]] Result<live::Past> past_in(journal::Journal& journal);

}  // namespace schedmate::daemon
