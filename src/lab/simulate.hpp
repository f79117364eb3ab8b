// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <schedmate/report.hpp>
#include <schedmate/result.hpp>
#include <string>
#include <vector>

#include "base/document.hpp"
#include "settings/session.hpp"
#include "study/explain.hpp"
#include "study/own_parts.hpp"

namespace schedmate::lab {

struct SimulateRequest {
  std::string trace;                  ///< "FORMAT:PATH"
  std::vector<std::string> policies;  ///< "NAME[:key=value,...][@LABEL]"
  std::string cluster;                ///< TOML file, "" = the trace's own
  std::string tables;                 ///< folder of step times, of elastic traces
  std::string explain;                ///< job id, "" = none
  std::string out;                    ///< folder, made where it is absent; "" = nothing is written
  std::string commit;                 ///< of the program, for the files
  study::OwnParts own{};              ///< that `policies` may name
  /// Called with each replay once it is over, before what it leaves is dropped; null = nobody asks.
  std::function<void(const RunRecord&)> finished{};
};

/// Jobs of one label that never finished.
struct UnfinishedJobs {
  std::string label;
  JobStatus status = JobStatus::stalled;
  std::uint64_t count = 0;
  std::vector<std::string> first;  ///< some of their ids
  bool lends = false;              ///< a VC was without a node, which a profiler held
};

struct Simulation {
  std::string trace_spec, cluster_spec, commit;  ///< as in Experiment
  Trace trace;
  ClusterSpec cluster;
  std::vector<RunSummary> runs;
  std::vector<UnfinishedJobs> leftovers;
  std::vector<study::Explanation> explanations;
  std::string out;
  std::string report;                      ///< path, "" = none written
  std::vector<std::string> idle_settings;  ///< that were given and change nothing, as sentences

  [[nodiscard]] Experiment experiment() const {
    return {trace_spec, cluster_spec, commit, trace, cluster};
  }
};

/// Replays the policies one after the other over a trace of plain jobs and, where OUT is given,
/// writes OUT/LABEL.jobs.csv and what write_run() has beside it, OUT/summary.json and, unless the
/// setting `report` is none, OUT/report.html. `begins` is called once everything is read and sound,
/// before the first replay. Errors: of the policies, the files, the settings and the replays.
[[nodiscard]] Result<Simulation> simulate(const settings::Session& session,
                                          const SimulateRequest& request,
                                          const std::function<void(const Experiment&)>& begins);

/// The document of summary.json with what only this run can say.
[[nodiscard]] Document simulation_document(const Simulation& simulation);

}  // namespace schedmate::lab
