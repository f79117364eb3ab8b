// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What the rows of queues.def share.

#include <memory>
#include <string>

#include "workers/queue.hpp"

namespace schedmate::workers {

#define QUEUE(name, summary)                                                         \
  [[nodiscard]] Result<std::unique_ptr<Queue>> open_##name(const std::string& where, \
                                                           const QueueOptions& options);
#include "workers/queues.def"
#undef QUEUE

/// Errors: invalid.
[[nodiscard]] Result<void> check_id(const std::string& id);
[[nodiscard]] Result<void> check(const Operation& operation);
[[nodiscard]] Result<void> check_result(const std::string& result);

// Sentences that all rows share.
[[nodiscard]] tl::unexpected<Error> full(Priority priority, std::int64_t most);
[[nodiscard]] tl::unexpected<Error> another_request(const std::string& id);
[[nodiscard]] tl::unexpected<Error> not_dead(const std::string& id);
/// The result of an operation that died without a word.
[[nodiscard]] std::string death_notice(std::int64_t deliveries);

inline constexpr std::int64_t most_dead = 1000;

}  // namespace schedmate::workers
