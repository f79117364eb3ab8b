// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Submissions and cancellations at the front door: read strictly, with the caller's rights. Called
/// by the loop's thread.

#include <optional>

#include "daemon/answers.hpp"
#include "http/request.hpp"
#include "live/loop.hpp"

namespace schedmate::daemon {

/// What is asked for; nothing where the request is no such. Errors: invalid (what is wrong in the
/// body), not_found, refused (somebody else's job), conflict (the job has ended; the cluster has no
/// such partition, or too few GPUs).
[[nodiscard]] std::optional<Result<live::Requested>> request_of(const http::Request& request,
                                                                const State& state);

/// 202 once it is on record, 200 for a repeat: the action, of a submission with its `job` once
/// that is known.
[[nodiscard]] http::Reply requested_reply(const live::Answer& answer, const State& state);

}  // namespace schedmate::daemon
