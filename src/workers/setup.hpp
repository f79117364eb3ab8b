// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The queue and the worker that the settings [workers] name.

#include "settings/session.hpp"
#include "workers/worker.hpp"

namespace schedmate::workers {

/// `patience`: with the server, for a call. Errors: invalid (no workers.redis); those of
/// open_queue().
[[nodiscard]] Result<std::unique_ptr<Queue>> queue_of(
    const settings::Session& session,
    std::chrono::milliseconds patience = StoreOptions().busy_timeout);

/// Its name is `name` ("": the host's) and the process. The rest is for the caller to fill in.
/// Errors: invalid.
[[nodiscard]] Result<WorkerOptions> worker_of(const settings::Session& session,
                                              const std::string& name);

/// By the reader that the settings name, else with the rights of this process.
[[nodiscard]] Deed deed_of(const settings::Session& session);

}  // namespace schedmate::workers
