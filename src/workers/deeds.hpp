// SPDX-License-Identifier: Apache-2.0
#pragma once

/// How a worker answers a request. Whoever may put requests names the user, so a worker never reads
/// more for it than that user may: through schedmate-reader with the rights of the user, or without
/// one for the user alone that it runs as.

#include <functional>

#include "reader/client.hpp"
#include "reader/request.hpp"
#include "settings/session.hpp"

namespace schedmate::workers {

/// The document of the command. Any thread may call.
using Deed = std::function<Result<Document>(const reader::Request& request)>;

/// Errors of the deed: those of the use cases; refused (another user).
[[nodiscard]] Deed with_own_rights(const settings::Session& session);
/// By the reader at this socket: code and logs are read with the user's rights, and advice is given
/// from them by this process and its history. No model is asked. Errors of the deed: also those of
/// the client.
[[nodiscard]] Deed through_reader(const settings::Session& session, const std::string& socket);

}  // namespace schedmate::workers
