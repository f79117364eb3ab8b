// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Witnesses: what another source than the log says of a failure, and whether it
/// confirms the verdict (docs/formats/diagnosis.md, "Witnesses").

#include <schedmate/diagnosis.hpp>
#include <span>
#include <string>
#include <vector>

#include "log/witness/xid_table.hpp"

namespace schedmate::witness {

/// One thing that a witness has seen.
struct WitnessFinding {
  /// What a rule would say of it; `rule` is the short name that readers see.
  lines::FailureVerdict means;
  std::string node;  ///< of the allocation, "" = not known
  std::string when;  ///< as it was printed
  std::string text;  ///< the line, or the state in words
  /// Confirms a failure of whatever part of a node.
  bool any_component = false;
  /// Says why a process ended whose log only says that it did.
  bool explains = false;
  /// Its recommendation is the vendor's, and takes precedence over that of a rule.
  bool decides = false;
};

struct WitnessReport {
  bool asked = false;     ///< its source was given, and is of the job
  bool complete = false;  ///< it would know of every fault of a GPU in the job's time
  /// For people, in every case: `in_words(findings)`, "nothing during the job", or which flag is
  /// missing.
  std::string says;
  std::vector<WitnessFinding> findings;  ///< the most relevant first
};

/// What witnesses may look at: what the caller of `diagnose` gave (DiagnoseInput).
struct WitnessCase {
  const std::optional<JobContext>& job;
  std::span<const KernelLog> kernel_logs;
  std::span<const GpuReading> gpus;
  const XidTable& xids;
  const std::string& folder;  ///< operator's rules, "" = none
  FileAccess access{};        ///< of the kernel logs
};

struct WitnessRow {
  std::string_view name;
  std::string_view summary;
  /// Only findings of the job's nodes and time. Errors: those of reading what was given; a source
  /// that was not given is none.
  Result<WitnessReport> (*consult)(const WitnessCase& what);
};
[[nodiscard]] std::span<const WitnessRow> witness_rows();

#define WITNESS(name, summary) \
  [[nodiscard]] Result<WitnessReport> consult_##name(const WitnessCase& what);
#include "log/witness/witnesses.def"
#undef WITNESS

/// Whether the finding is of the verdict's class and, for infrastructure, of its component. What is
/// only to be noted confirms nothing.
[[nodiscard]] bool confirms(const WitnessFinding& finding, const Diagnosis& made);

/// Whether the witness agrees; nothing: it was not asked, or says nothing on this.
[[nodiscard]] std::optional<bool> agrees(const WitnessReport& report, const Diagnosis& made);

/// The name that the allocation has for a host ("n1" for "n1.cluster"); "" when it is none of its
/// nodes.
[[nodiscard]] std::string node_of(const JobContext& job, std::string_view host);

/// What a reader sees of findings: the first ones, with their nodes.
[[nodiscard]] std::string in_words(std::span<const WitnessFinding> findings);

/// Most relevant first; the order of equals stays.
void sort_findings(std::vector<WitnessFinding>& findings);

}  // namespace schedmate::witness
