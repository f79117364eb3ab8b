// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Requests as the use cases take them, and their answers as others may see them.

#include <sys/stat.h>

#include "reader/request.hpp"
#include "service/advise.hpp"
#include "settings/session.hpp"

namespace schedmate::reader {

[[nodiscard]] service::JobRequest job_asked(const Request& request);
[[nodiscard]] service::AdviseRequest advice_asked(const Request& request);
/// What that advice stands on, for whoever has a history to advise by.
[[nodiscard]] Request facts_asked(Request advise);

/// schedmate.advice.v1. Errors: those of the use case.
[[nodiscard]] Result<Document> advise(const settings::Session& session, const Request& request);

/// The facts, the diagnosis of the logs named, and the progress of one, with inode, size and
/// mtime_s of its `file`. Errors: those of the use cases.
[[nodiscard]] Result<Document> facts(const settings::Session& session, const Request& request);
[[nodiscard]] Result<Document> diagnose(const settings::Session& session, const Request& request);
[[nodiscard]] Result<Document> track(const settings::Session& session, const Request& request);
/// What a job died of (`diagnosis`), and how far it had come (`progress`, null where that cannot be
/// told). Errors: as diagnose().
[[nodiscard]] Result<Document> failure(const settings::Session& session, const Request& request);

/// The members of `file`, of a log.
[[nodiscard]] Document file_document(const struct stat& status);

/// What an error says to others has no secrets in it.
[[nodiscard]] Result<Document> without_secrets(Result<Document> made);

}  // namespace schedmate::reader
