// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What `schedmate simulate` prints.

#include <cstdint>
#include <schedmate/report.hpp>
#include <span>
#include <string>
#include <vector>

#include "study/explain.hpp"

namespace schedmate {

/// Jobs of one label that never finished.
struct Leftovers {
  std::string label;
  JobStatus status = JobStatus::stalled;
  std::uint64_t count = 0;
  std::vector<std::string> first;  ///< some of their ids
};
[[nodiscard]] std::vector<Leftovers> find_leftovers(const RunRecord& record);

/// All that the command did.
struct SimulateAnswer {
  const Experiment& experiment;
  std::vector<RunSummary> runs;
  std::vector<Leftovers> leftovers;
  std::vector<Explanation> explanations;
  std::string out;
  std::string report;  ///< path, "" = none written
  /// That were given and change nothing, a sentence each.
  std::vector<std::string> idle_settings{};
};

/// What was read: rows kept and dropped and why, and the cluster.
[[nodiscard]] std::string reading_text(const Experiment& experiment);
/// Table, explanations, warnings, path of the report.
[[nodiscard]] std::string answer_text(const SimulateAnswer& answer, bool colour);
/// `summary`, the document of summary.json, with what only this run can tell added.
[[nodiscard]] std::string answer_json(const SimulateAnswer& answer, const std::string& summary);

}  // namespace schedmate
