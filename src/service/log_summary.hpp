// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What track and diagnose found in a job's log, as the history keeps it, and what the history says
/// of a failure: where it was seen, and whether a restart is within the caps.

#include <optional>
#include <schedmate/recovery.hpp>
#include <schedmate/store.hpp>
#include <string>

#include "settings/session.hpp"

namespace schedmate::service {

/// A store, and the role of its reader.
struct HistoryView {
  Store& store;
  Role role = Role::owner;
};

struct HistoryQuery {
  const JobContext& job;
  std::optional<double> step;  ///< that it had reached
};

/// Adds `seen` and applies the caps of the settings. Errors: those of the store.
[[nodiscard]] Result<void> consult_history(const settings::Session& session,
                                           const HistoryView& history, const HistoryQuery& what,
                                           Diagnosis& made);

struct LogSummary {
  /// {"log": absolute path, "job": where it ran or null, "progress": ..., "diagnosis": ...}.
  std::string json;
  std::string fingerprint;  ///< "" = no failure
};

/// `job` may know no more than id and user; the log is read as base/foreign_file.hpp says, for root
/// as the job's user. Errors: those of reading the log and of the store.
[[nodiscard]] Result<LogSummary> summarize_log(const settings::Session& session,
                                               const HistoryView& history, const std::string& path,
                                               const JobContext& job);

/// Where `ask` keeps what logs say.
[[nodiscard]] std::string log_index_folder(const settings::Session& session);

/// A log, and the job behind it where the history knows one.
struct LogOfJob {
  std::string path;
  std::optional<JobContext> job;
  std::string user;  ///< whose job named it; "" when the caller did
};

/// The log that the summary of a finished job names; nothing for any other id. Errors: those of the
/// store.
[[nodiscard]] Result<std::optional<LogOfJob>> log_of_job(Store& store, const std::string& id);

/// Whether there is something of this name, readable or not.
[[nodiscard]] bool is_there(const ForeignPath& path);

/// The subject itself when it is a file, else the log of the finished job of this id. Errors:
/// not_found, those of the store.
[[nodiscard]] Result<LogOfJob> find_log(const settings::Session& session,
                                        const ForeignPath& subject);

}  // namespace schedmate::service
