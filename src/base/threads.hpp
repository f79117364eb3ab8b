// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Helper threads for the time of one call.

#include <cstdint>
#include <functional>

namespace schedmate {

/// work(0) on this thread and work(1) to work(threads - 1) on others, as far as the system gives
/// threads; the rest follows on this one. Comes back when all have ended. An exception of any is
/// thrown here again, the first of several: none ends the process.
void run_on_threads(std::int64_t threads, const std::function<void(std::int64_t)>& work);

}  // namespace schedmate
