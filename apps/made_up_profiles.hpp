// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Invented workloads for traces that say nothing of what their jobs compute.

#include <optional>
#include <schedmate/workload.hpp>
#include <string>

#include "apps/session.hpp"

namespace schedmate {

/// What the setting `workload` names: a bundled recipe or a file. Errors: of reading the files.
struct WorkloadFiles {
  Recipe recipe;
  InterferenceModel interference;
  ExtractionErrors errors;
  [[nodiscard]] WorkloadParts parts() const { return {recipe, interference, errors}; }
};
[[nodiscard]] Result<WorkloadFiles> read_workload_files(const Settings& settings);

/// The invented profiles of a trace while a policy that packs replays it. Policies that do not pack
/// replay the trace as it is, so that a label's files never depend on the other labels of the
/// command. A trace with tables of its own keeps them.
class MadeUpProfiles {
 public:
  static Result<MadeUpProfiles> lend(const Settings& settings, Trace& trace);
  static MadeUpProfiles none() { return MadeUpProfiles(nullptr); }
  MadeUpProfiles(MadeUpProfiles&& other) noexcept;
  MadeUpProfiles& operator=(MadeUpProfiles&&) = delete;
  MadeUpProfiles(const MadeUpProfiles&) = delete;
  MadeUpProfiles& operator=(const MadeUpProfiles&) = delete;
  ~MadeUpProfiles();
  [[nodiscard]] bool lent() const { return trace_ != nullptr; }
  [[nodiscard]] const std::string& recipe() const { return recipe_; }
  [[nodiscard]] const std::string& fingerprint() const { return fingerprint_; }

 private:
  explicit MadeUpProfiles(Trace* trace) : trace_(trace) {}
  Trace* trace_;
  std::string recipe_, fingerprint_;
};

}  // namespace schedmate
