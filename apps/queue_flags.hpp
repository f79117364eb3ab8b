// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apps/command.hpp"
#include "client/which_daemon.hpp"
#include "queue/eta.hpp"

namespace schedmate {

/// The flags of `eta` and `why` that name the queue, the job and how it is replayed.
void add_queue_flags(const Parser& parser, queue::EtaRequest& request);

/// Whether they name a queue to read, or how it is replayed: then no daemon is asked.
[[nodiscard]] bool is_of_queue(const queue::EtaRequest& request);
/// Errors: unsupported, where --address is given, too.
[[nodiscard]] Result<void> check_place(std::string_view command, const queue::EtaRequest& request,
                                       const client::WhichDaemon& which);

}  // namespace schedmate
