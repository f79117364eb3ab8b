// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What the `redis` queue does on the server in one piece. Keys, all below "schedmate:work:":
///
///   urgent, usual   streams with the group "workers"; an entry is the id of an operation that
///                   waits or is being done, and goes when the operation is over
///   op:ID           hash: request, priority, receipt, state, deliveries, worker, result, fault
///   dead            sorted set: ids by when they are no longer kept
///   workers         sorted set: their names by when each was last heard of
///   counts          hash
///
/// The first two, `dead` and `counts` are passed as KEYS, in this order.

#include <string>
#include <vector>

namespace schedmate::workers {

enum RedisScript : std::size_t {
  put_script,      ///< id, priority, request, most waiting
  claim_script,    ///< worker, lease in ms, most deliveries, seconds to keep, death notice,
                   ///< most dead
  keep_script,     ///< worker, then priority and receipt of each
  finish_script,   ///< worker, priority, receipt, id, result, seconds to keep
  give_up_script,  ///< worker, priority, receipt, id, why
  look_script,     ///< id
  forget_script,   ///< id
  dead_script,
  revive_script,   ///< id
  leave_script,    ///< worker
  figures_script,  ///< lease in ms
};

[[nodiscard]] std::vector<std::string> redis_scripts();
[[nodiscard]] std::vector<std::string> redis_keys();

}  // namespace schedmate::workers
