// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Questions to a daemon and its answers as documents. What it refuses becomes an Error whose code
/// and sentence are the daemon's, with its address in front.

#include <schedmate/clock.hpp>
#include <schedmate/result.hpp>
#include <string>
#include <string_view>

#include "base/document.hpp"
#include "client/transfer.hpp"

namespace schedmate::client {

struct DaemonClient {
  DaemonAddress address;
  Bounds bounds{};
};

/// The document of an answer, whose `schema` must be this one. Errors: those of transfer(); the
/// daemon's own; bad_reply (another document, or none).
[[nodiscard]] Result<Document> ask(const DaemonClient& client, const Call& call,
                                   std::string_view schema);

/// A call with an Idempotency-Key: where no answer came, or 503, it is made again with the same
/// key, twice at most. Errors: as ask(); the sentence then has the key, with which a person may try
/// once more.
[[nodiscard]] Result<Document> ask_once(const DaemonClient& client, const Call& call,
                                        std::string_view schema, const Clock& clock);

/// 128 random bits as text.
[[nodiscard]] std::string new_idempotency_key();

/// Of an answer with an error's status.
[[nodiscard]] Error error_of(const DaemonAddress& address, const Answered& answered);

}  // namespace schedmate::client
