// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What an action and an entry of the audit chain may hold of a job's owner: a command, reasons,
/// what was seen. Whoever shows them takes the secrets out first; the journal keeps them as they
/// were, since its hashes are over them.

#include "base/document.hpp"

namespace schedmate::service {

/// Of a `schedmate.action.v1`, or of a `schedmate.audit.v1` with entries.
[[nodiscard]] Document without_secrets(Document shown);

}  // namespace schedmate::service
