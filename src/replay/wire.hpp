// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What a connector gives and takes as JSON, for a cluster that is another process.

#include <schedmate/connector.hpp>

#include "base/document.hpp"

namespace schedmate::replay {

[[nodiscard]] Document listing_document(const Listing& listing);
[[nodiscard]] Document job_document(const SeenJob& job);
[[nodiscard]] Document reply_document(const CallReply& reply);
/// Errors: invalid.
[[nodiscard]] Result<Listing> read_listing(const Document& document);
[[nodiscard]] Result<SeenJob> read_job(const Document& document);
[[nodiscard]] Result<CallReply> read_reply(const Document& document);

}  // namespace schedmate::replay
