// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What the files of answers share.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/document.hpp"
#include "core/instant.hpp"
#include "daemon/answers.hpp"
#include "http/request.hpp"

namespace schedmate::daemon {

[[nodiscard]] http::Reply not_found(std::string what);
/// A query name whose value is to be a whole number and is none; nothing where all are.
[[nodiscard]] std::optional<http::Reply> wrong_number(const http::Request& request);

/// Of a cursor that no page gave.
[[nodiscard]] http::Reply wrong_cursor();

/// "" where the request has no such name.
[[nodiscard]] std::string query(const http::Request& request, std::string_view name);
/// Of a page, at most `most`.
[[nodiscard]] std::size_t limit_of(const http::Request& request, std::size_t most = 100'000);

/// "pending", "running", or how it ended.
[[nodiscard]] std::string state_word(const SeenJob& job);
[[nodiscard]] Document job_document(const SeenJob& job);
/// schedmate.job.v1 of a job that nothing is expected of and no action is about. `life` may be
/// null.
[[nodiscard]] Document whole_document(const live::Attempt& attempt, const live::Life* life);

/// The one that the first {ID} names, where the caller may see it; else null.
[[nodiscard]] const live::Attempt* seen_job(const http::Request& request, const State& state);

/// Without secrets. Of a submission with the `job` that it became.
[[nodiscard]] Document shown_action(const Action& action);
/// The same without whose GPUs the job shares, unless the caller may see everybody's jobs.
[[nodiscard]] Document shown_action(const Action& action, const Caller& caller);

// Each of a route.
[[nodiscard]] http::Reply jobs_reply(const http::Request& request, const State& state);
[[nodiscard]] http::Reply why_reply(const http::Request& request, const State& state);
[[nodiscard]] http::Reply cluster_reply(const http::Request& request, const State& state);
[[nodiscard]] http::Reply ledger_reply(const http::Request& request, const State& state);

}  // namespace schedmate::daemon
