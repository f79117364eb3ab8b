// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Finished jobs of a period: how well they used what they were given, what was wasted, and where
/// and why jobs failed (docs/formats/usage-report.md).

#include <array>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/document.hpp"
#include "service/job_use.hpp"
#include "settings/session.hpp"

namespace schedmate::service {

struct ReportQuestion {
  /// "7d", "12h", "2w", a date, "all"; "" = 7d, of a file all.
  std::string since{};
  std::string user{};   ///< "" = everybody
  std::string state{};  ///< an end_word(), "" = any
  std::string by{};     ///< a row of report_groupings(), "" = single jobs
  std::string sort{};   ///< a row of report_sortings(), "" = waste
  /// "sacct:FILE", "sacct" (ask the program), "history"; "" = the history where it has jobs of the
  /// period, else the program.
  std::string from{};
};
[[nodiscard]] std::span<const std::string_view> report_groupings();
[[nodiscard]] std::span<const std::string_view> report_sortings();

/// A finished job without its documents.
struct ReportJob {
  JobRecord record;
  JobUse use;
  std::string state, cause;
  SimTime end;
  std::optional<Seconds> waited;  ///< before its first start
};

struct ReportGroup {
  std::string key;
  std::size_t jobs = 0, completed = 0, failed = 0, timeout = 0, cancelled = 0;
  double gpu_hours = 0, idle_gpu_hours = 0, lost_gpu_hours = 0;
  /// Means weighted by GPU-hours and CPU-hours of the jobs that were measured.
  std::optional<double> gpu_util_pct, cpu_pct;
  /// Joules of the jobs whose energy was measured, and how many these are.
  double energy_j = 0;
  std::size_t energy_jobs = 0;
};

/// Jobs that a node had, and how many of them failed there: by an exit code, a signal or the node
/// itself, unless their log shows that the code was at fault.
struct ReportNode {
  std::string node;
  std::size_t jobs = 0, failed = 0;
  /// At least three failures, and twice as many as the jobs of all nodes had.
  bool suspect = false;
};

/// The cause that stands for what jobs lost before they completed.
inline constexpr std::string_view earlier_attempts = "attempts before one that completed";

struct ReportCause {
  std::string cause;
  std::size_t jobs = 0;
  double lost_gpu_hours = 0;
};

struct UsageReport {
  SimTime since, until;
  std::string source;  ///< "history", "sacct", a file
  std::string by;      ///< as asked
  ReportGroup total;
  std::vector<ReportGroup> groups;  ///< with `by`, the most GPU-hours first
  std::vector<ReportJob> jobs;      ///< without `by`, sorted
  std::vector<ReportCause> causes;  ///< of all that did not complete, the most frequent
                                    ///< first; last, what others lost before they completed
  std::vector<ReportNode> nodes;    ///< with failures, the most first
  std::vector<std::string> notes;   ///< what could not be read, and what was left out
};

/// Errors: unsupported (a word that is none of the rows), refused (the history is another user's),
/// those of the store, of reading the file and of run_tool().
[[nodiscard]] Result<UsageReport> report_usage(const settings::Session& session,
                                               const ReportQuestion& question);

/// schedmate.report.v1.
[[nodiscard]] Document usage_document(const UsageReport& report);
/// One row for each job (or group) with a header line; a cell that a spreadsheet would take for a
/// formula is quoted with an apostrophe.
[[nodiscard]] std::string usage_csv(const UsageReport& report);

}  // namespace schedmate::service
