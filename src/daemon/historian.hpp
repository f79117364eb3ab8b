// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The history of past jobs beside the daemon: advice on those that come, and how those that have
/// ended ran. One thread at a time.

#include <optional>
#include <schedmate/connector.hpp>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/document.hpp"
#include "daemon/end_record.hpp"
#include "live/lives.hpp"
#include "probe/job_use.hpp"
#include "service/advise.hpp"
#include "service/advisor_state.hpp"
#include "settings/session.hpp"

namespace schedmate::daemon {

/// What is known of an attempt that has ended.
struct Ended {
  SeenJob job;
  std::vector<live::PastRun> earlier{};  ///< attempts before it, oldest first
  std::optional<live::Life> life{};
  std::optional<probe::UseSummary> use{};
  bool is_old = false;  ///< it had ended before this daemon began: what is on record of it stays
};

/// When it was submitted, as the history has it: never before the clock's zero.
[[nodiscard]] SimTime submission_on_record(const SeenJob& job);

class Historian {
 public:
  explicit Historian(settings::Session session) : session_(std::move(session)) {}

  /// On facts as schedmate-reader gave them; the submission is remembered. Errors: those of the
  /// history; invalid for a document that holds no facts.
  Result<live::CodeFound> advise(const SeenJob& job, const Document& document) {
    return advise(std::span(&job, 1), document);
  }
  /// Of jobs that were submitted alike, at least one: the same of all, each with its own record.
  Result<live::CodeFound> advise(std::span<const SeenJob> alike, const Document& document);
  /// schedmate.advice.v1 for somebody who asks, on facts as above; nothing is remembered. Errors:
  /// unavailable (the history cannot be read), unsupported (a request that contradicts itself).
  Result<Document> advise(const service::AdviseRequest& request, const Document& document);
  /// That the history can be asked. Errors: whatever is wrong with it, or with what it needs.
  Result<void> open() {
    return state().map([](const auto*) {});
  }
  /// As the history keeps it, whatever the job's owner wrote. Errors: invalid.
  [[nodiscard]] static Result<EndRecord> end_record(const Ended& end);
  /// The same end twice is one. Errors: those of the history.
  Result<void> keep(std::span<const EndRecord> ends);

 private:
  Result<void> record_alike(std::span<const SeenJob> alike);
  /// How a job ended that is advised on only now; nothing: it has not.
  Result<std::optional<Outcome>> end_of(const SeenJob& job);
  Result<const service::AdvisorState*> state();

  settings::Session session_;
  std::optional<service::AdvisorState> state_;  // opened when first needed
  std::set<std::string> ended_;                 // ids of the last ones
};

}  // namespace schedmate::daemon
