// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <schedmate/job_record.hpp>
#include <span>
#include <string>

#include "base/document.hpp"

namespace schedmate::advisor {

/// A remembered job as JSON, `schedmate.job.v1`: with its facts, advice and outcome.
[[nodiscard]] Document record_document(const JobRecord& record);

/// The list of a job's attempts in it.
[[nodiscard]] Document attempts_document(std::span<const Attempt> attempts);

/// "completed", "node_fail" and the like.
[[nodiscard]] std::string state_word(EndState state);

/// The reverse, in any case. Errors: not_found with the nearest name.
[[nodiscard]] Result<EndState> read_state(std::string_view name);

}  // namespace schedmate::advisor
