// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The history of past jobs, as its users change and read it. Each call opens the store that the
/// settings name, making it where it is absent. Errors of all: those of the store; refused where
/// the caller asks for the jobs of everybody and does not own the state folder.

#include <map>
#include <optional>
#include <schedmate/job_record.hpp>

#include "advisor/calibration.hpp"
#include "base/document.hpp"
#include "service/job_request.hpp"

namespace schedmate::service {

/// How a job ended.
struct OutcomeRequest {
  std::string state;  ///< "completed", ...; "" = not said
  std::optional<std::int64_t> duration_s;
  std::optional<double> gpu_util_pct, gpu_memory_mib;
};

/// A job that was never advised.
struct AddRequest {
  std::string id, user, branch, vc;
  JobRequest job;              ///< root "" = not known
  std::string facts;           ///< file with a schedmate.facts.v1 document, "" = none
  std::int64_t submit_s = -1;  ///< Unix time; -1 = now
  OutcomeRequest outcome;
};
/// Gives the record that is kept. Errors: unsupported (no user, a wrong state), those of the files.
[[nodiscard]] Result<JobRecord> add_job(const settings::Session& session,
                                        const AddRequest& request);

struct FinishRequest {
  std::string id;
  OutcomeRequest outcome;
  std::string log;       ///< what track and diagnose find in it is kept, "" = none
  std::string job_file;  ///< what the scheduler knows of the job (JSON), "" = nothing
  bool replace = false;  ///< also where another end of the job is recorded
};
/// Gives the job with its outcome. The same end twice is no error. Errors: unsupported,
/// not_found, conflict (it has ended otherwise), those of reading the files.
[[nodiscard]] Result<JobRecord> finish_job(const settings::Session& session,
                                           const FinishRequest& request);

struct Imported {
  std::uint64_t jobs = 0, rows = 0;
  std::map<std::string, std::uint64_t> dropped;  ///< reason -> rows
  std::vector<std::string> messages;             ///< the first bad rows: file, line, column, reason
};
/// The jobs of an accounting dump or a trace, "FORMAT:PATH". Of sacct's dumps everything that the
/// dump says, with each attempt of a requeued job; SubmitLine (or JobName) is the command, WorkDir
/// the root. A job that was advised keeps its facts and its advice. Errors: as read_accounting
/// (lenient) and read_trace.
[[nodiscard]] Result<Imported> import_jobs(const settings::Session& session,
                                           const std::string& spec);

/// The newest first, without their larger documents; `user` "" = everybody's.
[[nodiscard]] Result<std::vector<JobRecord>> list_jobs(const settings::Session& session,
                                                       const std::string& user, std::size_t limit);
/// Errors: not_found.
[[nodiscard]] Result<JobRecord> show_job(const settings::Session& session, const std::string& id);
/// Every job, as list_jobs would give them, whole.
[[nodiscard]] Result<void> each_job(const settings::Session& session, const std::string& user,
                                    const std::function<void(const JobRecord&)>& visit);
/// The job, its facts, its vectors and cached text. Errors: not_found.
[[nodiscard]] Result<void> forget_job(const settings::Session& session, const std::string& id);
/// How good past advice was; see calibrate().
[[nodiscard]] Result<std::vector<advisor::Calibration>> calibration(
    const settings::Session& session);

// The documents of these answers (docs/formats/history.md).
[[nodiscard]] Document finish_document(const JobRecord& record);
[[nodiscard]] Document import_document(const Imported& imported);
[[nodiscard]] Document list_document(std::span<const JobRecord> records);
[[nodiscard]] Document calibration_document(std::span<const advisor::Calibration> rows);
[[nodiscard]] Document forget_document(const std::string& id);

}  // namespace schedmate::service
