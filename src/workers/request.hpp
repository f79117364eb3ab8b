// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What a request on a queue says, and a result: the lines of schedmate-reader (reader/request.hpp)
/// with the parts that it has no use for here. Both come from a server that others can write to.

#include "reader/request.hpp"
#include "workers/queue.hpp"

namespace schedmate::workers {

/// `id` "": one is made of the request and `salt`, which says who asks and when. A failure is
/// urgent. Errors: invalid, unsupported (the end of a log, or its progress).
[[nodiscard]] Result<Operation> operation_of(const reader::Request& request, std::string id,
                                             std::string_view salt);
/// Errors: invalid, unsupported.
[[nodiscard]] Result<reader::Request> request_of(std::string_view text);

[[nodiscard]] std::string result_text(const Result<Document>& result);
/// Errors: bad_reply, and that which the result tells.
[[nodiscard]] Result<Document> result_of(std::string_view text);
/// Of an operation that is over; nothing: it is not yet. Errors: the same.
[[nodiscard]] std::optional<Result<Document>> result_of(const Status& status);

/// `schedmate.work.v1` (docs/workers.md); `result` is that of `status`.
[[nodiscard]] Document status_document(const std::string& id, const Status& status,
                                       const std::optional<Result<Document>>& result);

}  // namespace schedmate::workers
