// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apps/command.hpp"
#include "queue/eta.hpp"

namespace schedmate {

/// The flags of `eta` and `why` that name the queue, the job and how it is replayed.
void add_queue_flags(const Parser& parser, queue::EtaRequest& request);

}  // namespace schedmate
