// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Answers that stand on files: the audit chain of the journal, and what the history knows of a
/// job. A thread of its own reads them, since a disk may be slow.

#include <memory>
#include <optional>
#include <schedmate/caller.hpp>
#include <schedmate/store.hpp>
#include <string>

#include "base/document.hpp"
#include "daemon/found_history.hpp"
#include "daemon/worker.hpp"
#include "http/request.hpp"
#include "http/server.hpp"

namespace schedmate::daemon {

class Archive {
 public:
  Archive(settings::Session session, std::string journal)
      : journal_(std::move(journal)), history_(std::move(session)) {}

  /// Of route `audit`.
  void audit(const http::Request& request, const std::shared_ptr<http::Answer>& answer);
  /// Of route `job`: `document` with the job's facts, its advice and the past runs behind it.
  void job(const http::Request& request, const std::shared_ptr<http::Answer>& answer,
           Document document);
  /// Of route `job`, for one that the daemon does not follow: what the history has of it. 503 where
  /// it cannot be read.
  void past_job(const http::Request& request, const std::shared_ptr<http::Answer>& answer);

 private:
  std::string journal_;
  FoundHistory history_;  // of the worker's thread
  Worker worker_;         // last: it uses what stands above
};

/// Adds `facts` (schedmate.facts.v1; null: none are kept) and `advice` as it was given, with its
/// `neighbours`, the past runs that it stood on, best first. Of users whose jobs the caller may not
/// see there is their number alone. Errors: those of the history.
[[nodiscard]] Result<void> add_history(Store& store, const Caller& caller, Document& job);
/// schedmate.job.v1 with the same; nothing where the history has no such job, or none that the
/// caller may see. Errors: those of the history.
[[nodiscard]] Result<std::optional<Document>> past_job(Store& store, const Caller& caller,
                                                       const std::string& id);

}  // namespace schedmate::daemon
