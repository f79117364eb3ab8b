// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Answers that stand on files: actions and the audit chain of the journal, and what the history
/// knows of a job. Threads of its own read them, since a disk may be slow: one pages of actions and
/// of the chain, which may be long, one what is told of a job.

#include <cstdint>
#include <memory>
#include <optional>
#include <schedmate/caller.hpp>
#include <schedmate/store.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/document.hpp"
#include "daemon/answers.hpp"
#include "daemon/found_history.hpp"
#include "daemon/worker.hpp"
#include "http/request.hpp"
#include "http/server.hpp"

namespace schedmate::daemon {

class Archive {
 public:
  Archive(settings::Session session, std::string journal)
      : journal_(std::move(journal)), history_(std::move(session)) {}

  /// Of the routes below; false: of another one. Called by the loop's thread.
  bool take(const http::Request& request, const std::shared_ptr<http::Answer>& answer,
            const State& state);

  /// Of route `actions`.
  void actions(const http::Request& request, const std::shared_ptr<http::Answer>& answer,
               SeenActions seen);
  /// Of route `action`, for one that is at its end.
  void past_action(const http::Request& request, const std::shared_ptr<http::Answer>& answer,
                   SeenActions seen);
  /// Of route `job`, for one that the daemon does not follow: what the history has of it. 503 where
  /// it cannot be read.
  void past_job(const http::Request& request, const std::shared_ptr<http::Answer>& answer);

 private:
  /// Of route `audit`.
  void audit(const http::Request& request, const std::shared_ptr<http::Answer>& answer);
  /// Of route `job`: `document` with these actions, the job's facts, its advice and the past runs
  /// behind it.
  void job(const http::Request& request, const std::shared_ptr<http::Answer>& answer,
           Document document, std::vector<std::int64_t> actions);
  SeenActions seen_by(const Caller& caller, const State& state);
  std::shared_ptr<const JobOwners> owners(const State& state);

  std::shared_ptr<const JobOwners> owners_;            // of the loop's thread
  std::pair<std::uint64_t, std::uint64_t> owners_of_;  // number of the loop, its readings
  std::string journal_;
  FoundHistory history_;   // of worker_'s thread
  Worker worker_, pages_;  // last: they use what stands above
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
