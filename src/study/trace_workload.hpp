// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Invented workloads for traces that say nothing of what their jobs compute (setting `workload`).

#include <memory>
#include <schedmate/estimator.hpp>
#include <schedmate/workload.hpp>
#include <string>
#include <utility>

#include "advisor/advisor_on.hpp"
#include "settings/settings.hpp"

namespace schedmate::study {

/// What the setting `workload` names: a bundled recipe or a file. Errors: of reading the files.
struct WorkloadFiles {
  Recipe recipe;
  InterferenceModel interference;
  ExtractionErrors errors;
  [[nodiscard]] WorkloadParts parts() const { return {recipe, interference, errors}; }
};
[[nodiscard]] Result<WorkloadFiles> read_workload_files(const settings::Settings& settings);

/// The workload of a trace under some settings.
struct TraceWorkload {
  std::string recipe;  ///< "" when nothing is invented: accounting reports folders and commands
  Workload workload;
  std::shared_ptr<advisor::ComparedJobs> compared =
      advisor::compared_jobs();  ///< shared by its permutations
};
/// Null for a trace with tables of its own, which it keeps. Errors: of reading the files.
[[nodiscard]] Result<std::shared_ptr<const TraceWorkload>> make_trace_workload(
    const settings::Settings& settings, const Trace& trace);

/// `made` may be null.
[[nodiscard]] EstimatorInput estimator_input(const Trace& trace, std::uint64_t seed,
                                             const TraceWorkload* made);

/// Made when it is first asked for.
class WorkloadOnDemand {
 public:
  WorkloadOnDemand(const settings::Settings& settings, const Trace& trace)
      : settings_(&settings), trace_(&trace) {}
  /// Folders and commands of the jobs as accounting has them; profiles alone are invented.
  WorkloadOnDemand(const settings::Settings& settings, const Trace& trace,
                   std::vector<JobPlace> reported_places)
      : settings_(&settings), trace_(&trace), reported_places_(std::move(reported_places)) {}
  /// One that is there already, or null for a trace with tables of its own.
  WorkloadOnDemand(const Trace& trace, std::shared_ptr<const TraceWorkload> made)
      : trace_(&trace), made_(std::move(made)) {}
  /// Null for a trace with tables of its own. `profiles`: whether they are needed.
  [[nodiscard]] Result<const TraceWorkload*> get(bool profiles);
  /// What a trace with tables of its own says of its jobs; null for another trace.
  [[nodiscard]] const TraceWorkload* of_profiles();

 private:
  const settings::Settings* settings_ = nullptr;
  const Trace* trace_ = nullptr;
  std::vector<JobPlace> reported_places_;
  std::shared_ptr<const TraceWorkload> made_, reported_only_, of_profiles_;
};

/// The profiles of a workload in a trace, as long as this lives. Policies that need none replay the
/// trace as it is, so that a label's files never depend on the other labels of the command.
class ScopedProfiles {
 public:
  ScopedProfiles(Trace& trace, const Workload& workload);
  ScopedProfiles(const ScopedProfiles&) = delete;
  ScopedProfiles& operator=(const ScopedProfiles&) = delete;
  ScopedProfiles(ScopedProfiles&&) = delete;
  ScopedProfiles& operator=(ScopedProfiles&&) = delete;
  ~ScopedProfiles();

 private:
  Trace& trace_;
  bool made_;
};

/// What a profiler that runs each job for `time` sees of the workload's profiles: nothing of the
/// time before the first step, and only part of the way up to steady utilisation.
[[nodiscard]] std::vector<Profile> seen_while_warming_up(const Workload& workload, Seconds time);

}  // namespace schedmate::study
